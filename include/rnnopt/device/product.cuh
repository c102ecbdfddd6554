#pragma once

#include <cublasLt.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "rnnopt/device/chain_timer.cuh"
#include "rnnopt/error.hpp"
#include "rnnopt/precision.hpp"
#include "rnnopt/product_choice.hpp"

/// One matrix product over cuBLASLt, its algorithm chosen when it is planned.

namespace rnnopt {

namespace detail {

/// Scratch of one lane's products. A constant, so that workspace_bytes() depends on types and extents alone; room for
/// split-k partial sums of a step's product, which is small.
inline constexpr std::size_t product_scratch_bytes = std::size_t(8) << 20;

/// Whether cuBLASLt has the products of this precision.
template <class Storage, class Accumulate, matrix_math Math>
inline constexpr bool has_product = std::is_same_v<Storage, double>
                                        ? std::is_same_v<Accumulate, double>&& Math == matrix_math::exact
                                        : std::is_same_v<Accumulate, float> &&
                                              (std::is_same_v<Storage, float> ||
                                               ((std::is_same_v<Storage, half> ||
                                                 std::is_same_v<Storage, bfloat16>)&&Math == matrix_math::exact));

template <class T>
constexpr cudaDataType data_type() {
  if constexpr (std::is_same_v<T, half>) return CUDA_R_16F;
  else if constexpr (std::is_same_v<T, bfloat16>) return CUDA_R_16BF;
  else if constexpr (std::is_same_v<T, float>) return CUDA_R_32F;
  else return CUDA_R_64F;
}

/// Element types of a product and what the matrix units may do; independent of cell and shape.
struct product_types {
  cudaDataType operands;
  cudaDataType result;
  cudaDataType scale;
  cublasComputeType_t compute;
};

template <class Precision, class Result>
constexpr product_types product_types_of() {
  bool const wide = std::is_same_v<typename Precision::accumulate, double>;
  return {data_type<typename Precision::storage>(), data_type<Result>(), wide ? CUDA_R_64F : CUDA_R_32F,
          wide                                   ? CUBLAS_COMPUTE_64F
          : Precision::math == matrix_math::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                                                 : CUBLAS_COMPUTE_32F};
}

/// C [m, n] = A [m, k] B [k, n] + beta C, all row-major with the given distance between stored rows in elements; a
/// transposed operand is stored as [k, m] or [n, k]. Alignments are in bytes, of every pointer ever given.
struct product_shape {
  std::int64_t m, n, k;
  bool a_transposed, b_transposed;
  std::int64_t a_row, b_row, c_row;
  std::size_t a_alignment, b_alignment, c_alignment;
};

class planned_product {
  // A name of our own: nvcc 13.0 as C++20 cannot make a vector of cuBLASLt's unnamed struct.
  struct suggestion : cublasLtMatmulHeuristicResult_t {};

 public:
  /// `lanes`: how many of the product are timed at once.
  planned_product(cublasLtHandle_t cublas, product_types types, product_shape const& shape, product_choice choice,
                  int lanes = 1)
      : cublas_(cublas), double_scale_(types.scale == CUDA_R_64F) {
    char const* const where = "planning a product";
    // cuBLASLt thinks in columns: row-major C = A B is column-major C^T = B^T A^T, so its first operand is our B.
    cublasLtMatmulDesc_t descriptor = nullptr;
    require_success(cublasLtMatmulDescCreate(&descriptor, types.compute, types.scale), where);
    descriptor_.reset(descriptor);
    cublasOperation_t const first = shape.b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    cublasOperation_t const second = shape.a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    require_success(cublasLtMatmulDescSetAttribute(descriptor, CUBLASLT_MATMUL_DESC_TRANSA, &first, sizeof(first)),
                    where);
    require_success(cublasLtMatmulDescSetAttribute(descriptor, CUBLASLT_MATMUL_DESC_TRANSB, &second, sizeof(second)),
                    where);
    auto const layout = [&](owned_matrix_layout& into, cudaDataType type, std::int64_t rows, std::int64_t columns,
                            std::int64_t leading) {
      cublasLtMatrixLayout_t created = nullptr;
      require_success(cublasLtMatrixLayoutCreate(&created, type, std::uint64_t(rows), std::uint64_t(columns), leading),
                      where);
      into.reset(created);
    };
    layout(first_, types.operands, shape.b_transposed ? shape.k : shape.n, shape.b_transposed ? shape.n : shape.k,
           shape.b_row);
    layout(second_, types.operands, shape.a_transposed ? shape.m : shape.k, shape.a_transposed ? shape.k : shape.m,
           shape.a_row);
    layout(result_, types.result, shape.n, shape.m, shape.c_row);

    std::vector<suggestion> const candidates = suggest(shape, types, choice);
    if (candidates.empty())
      fail(errc::no_product_algorithm, where,
           "cuBLASLt offers no algorithm for m " + std::to_string(shape.m) + ", n " + std::to_string(shape.n) + ", k " +
               std::to_string(shape.k));
    algorithm_ = candidates.front().algo;
    if (choice != product_choice::heuristic && candidates.size() > 1)
      measure(candidates, shape, types, choice == product_choice::measured ? 1 : lanes);
  }

  /// Enqueues the product; `scratch` has product_scratch_bytes and is aligned to 256 bytes.
  template <class Operand, class Result>
  void run(cudaStream_t stream, Operand const* a, Operand const* b, Result* c, bool accumulate, void* scratch) const {
    require_success(enqueue(algorithm_, stream, a, b, c, accumulate, scratch), "enqueueing a product");
  }

 private:
  std::vector<suggestion> suggest(product_shape const& shape, product_types types, product_choice choice) const {
    char const* const where = "planning a product";
    cublasLtMatmulPreference_t created = nullptr;
    require_success(cublasLtMatmulPreferenceCreate(&created), where);
    owned_product_preference const preference(created);
    auto const set = [&](cublasLtMatmulPreferenceAttributes_t attribute, auto value) {
      require_success(cublasLtMatmulPreferenceSetAttribute(created, attribute, &value, sizeof(value)), where);
    };
    set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t(product_scratch_bytes));
    // Partial sums are never added in a 16-bit result.
    if (types.result != types.scale)
      set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, std::uint32_t(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, std::uint32_t(shape.b_alignment));
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, std::uint32_t(shape.a_alignment));
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, std::uint32_t(shape.c_alignment));
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, std::uint32_t(shape.c_alignment));
    std::vector<suggestion> results(choice == product_choice::heuristic ? 1 : 24);
    int found = 0;
    cublasStatus_t const status =
        cublasLtMatmulAlgoGetHeuristic(cublas_, descriptor_.get(), first_.get(), second_.get(), result_.get(),
                                       result_.get(), created, int(results.size()), results.data(), &found);
    if (status != CUBLAS_STATUS_NOT_SUPPORTED) require_success(status, where);
    results.resize(status == CUBLAS_STATUS_SUCCESS ? std::size_t(found) : 0);
    results.erase(
        std::remove_if(results.begin(), results.end(), [](auto const& r) { return r.state != CUBLAS_STATUS_SUCCESS; }),
        results.end());
    return results;
  }

  cublasStatus_t enqueue(cublasLtMatmulAlgo_t const& algorithm, cudaStream_t stream, void const* a, void const* b,
                         void* c, bool accumulate, void* scratch) const {
    // Scalars are read on the host during the call.
    float const one_float = 1, beta_float = accumulate ? 1 : 0;
    double const one_double = 1, beta_double = accumulate ? 1 : 0;
    void const* const one = double_scale_ ? static_cast<void const*>(&one_double) : &one_float;
    void const* const beta = double_scale_ ? static_cast<void const*>(&beta_double) : &beta_float;
    return cublasLtMatmul(cublas_, descriptor_.get(), one, b, first_.get(), a, second_.get(), beta, c, result_.get(), c,
                          result_.get(), &algorithm, scratch, product_scratch_bytes, stream);
  }

  /// Keeps the fastest candidate, on memory of its own.
  void measure(std::vector<suggestion> const& candidates, product_shape const& shape, product_types types, int lanes) {
    char const* const where = "measuring a product";
    auto const bytes = [](cudaDataType type) {
      return type == CUDA_R_64F ? std::size_t(8) : type == CUDA_R_32F ? std::size_t(4) : std::size_t(2);
    };
    auto const extent = [](std::int64_t rows, std::int64_t row) { return std::size_t(rows) * std::size_t(row); };
    std::size_t const a_bytes = extent(shape.a_transposed ? shape.k : shape.m, shape.a_row) * bytes(types.operands);
    std::size_t const b_bytes = extent(shape.b_transposed ? shape.n : shape.k, shape.b_row) * bytes(types.operands);
    std::size_t const c_bytes = extent(shape.m, shape.c_row) * bytes(types.result);
    struct lane_memory {
      owned_memory a, b, c, scratch;
    };
    chain_timer const timer(lanes);
    std::vector<lane_memory> memory;
    for (int lane = 0; lane < lanes; ++lane) {
      memory.push_back({allocate(a_bytes, where), allocate(b_bytes, where), allocate(c_bytes, where),
                        allocate(product_scratch_bytes, where)});
      // Small finite numbers in every one of the types: 0x3c3c is 1.06 as half and 0.011 as bfloat16.
      require_success(cudaMemsetAsync(memory.back().a.get(), 0x3c, a_bytes, timer.stream()), where);
      require_success(cudaMemsetAsync(memory.back().b.get(), 0x3c, b_bytes, timer.stream()), where);
    }
    double const operations = 2.0 * double(shape.m) * double(shape.n) * double(shape.k);
    int const chain = operations > 1e10 ? 2 : operations > 1e9 ? 6 : 20;
    float best = -1;
    for (auto const& candidate : candidates) {
      float const time = timer.time([&](cudaStream_t stream, int lane) {
        lane_memory const& m = memory[std::size_t(lane)];
        cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
        for (int i = 0; i < chain && status == CUBLAS_STATUS_SUCCESS; ++i)
          status = enqueue(candidate.algo, stream, m.a.get(), m.b.get(), m.c.get(), false, m.scratch.get());
        return status == CUBLAS_STATUS_SUCCESS;
      });
      if (time >= 0 && (best < 0 || time < best)) {
        best = time;
        algorithm_ = candidate.algo;
      }
    }
  }

  cublasLtHandle_t cublas_;
  bool double_scale_;
  owned_product_descriptor descriptor_;
  owned_matrix_layout first_, second_, result_;
  cublasLtMatmulAlgo_t algorithm_{};
};

}  // namespace detail
}  // namespace rnnopt

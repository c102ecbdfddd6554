#pragma once

#include <cstdint>
#include <cstring>

#include "rnnopt/device/step_operands.cuh"

/// A step's product on the ordinary arithmetic units, in the accumulate type: fp32 without TF32, and fp64.
///
/// Every thread keeps tile_m x tile_n sums; the groups of threads that cover the tile share its k: each takes every
/// `groups`-th chunk of a box and keeps partial sums of its own.

namespace rnnopt::detail {

template <class Precision, int Rows, int Columns, weight_rows Order>
class scalar_product {
  using T = typename Precision::storage;
  using accumulate = typename Precision::accumulate;
  static constexpr int vector = chunk_elements<T>;
  static constexpr int widest = sizeof(accumulate) == 8 && Columns <= 64 ? 4 : 8;
  static constexpr int tile_m = Rows >= 64 ? widest : 4;
  static constexpr int tile_n = Columns >= 64 ? widest : 4;
  static constexpr int threads_m = Rows / tile_m;
  static constexpr int threads_n = Columns / tile_n;
  static constexpr int group = threads_m * threads_n;
  static constexpr int groups = group > 128 ? 1 : group > 64 ? 2 : group > 32 ? 4 : 8;
  static_assert(threads_m * tile_m == Rows && threads_n * tile_n == Columns && group <= 256);

 public:
  static constexpr int threads = 256;
  static constexpr int partial_sums = groups;

  __device__ void multiply(std::uint32_t left, std::uint32_t right) {
    if (groups * group < threads && int(threadIdx.x) >= groups * group) return;
#pragma unroll
    for (int step = 0; step < 8 / groups; ++step) multiply_chunk(left, right, step * groups + k_part());
  }

  __device__ void finish_stage() {}

  /// Writes this thread's sums to [partial_sums, Rows, pitch].
  __device__ void store(accumulate* to, int pitch) const {
    if (groups * group < threads && int(threadIdx.x) >= groups * group) return;
#pragma unroll
    for (int m = 0; m < tile_m; ++m)
#pragma unroll
      for (int n = 0; n < tile_n; ++n) to[(k_part() * Rows + row(m)) * pitch + column(n)] = sums_[m][n];
  }

 private:
  __device__ static int k_part() { return int(threadIdx.x) / group; }
  /// Rows of one thread are threads_m apart, so that the threads of a warp read neighbouring rows.
  __device__ static int row(int m) { return int(threadIdx.x) % group / threads_n + m * threads_m; }
  __device__ static int column(int n) {
    int const thread = int(threadIdx.x) % threads_n;
    if constexpr (Order == weight_rows::along_k) return thread + n * threads_n;
    else return (thread + n / vector * threads_n) * vector + n % vector;
  }

  struct chunk {
    T elements[vector];
  };
  __device__ static chunk load(std::uint32_t address) {
    std::uint32_t words[4];
    asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(address));
    chunk result;
    memcpy(&result, words, sizeof words);
    return result;
  }

  __device__ void multiply_chunk(std::uint32_t left, std::uint32_t right, int at) {
    chunk a[tile_m];
#pragma unroll
    for (int m = 0; m < tile_m; ++m) a[m] = load(left + chunk_along_k(row(m), at));
    if constexpr (Order == weight_rows::along_k) {
      chunk next = load(right + chunk_along_k(column(0), at));
#pragma unroll
      for (int n = 0; n < tile_n; ++n) {
        chunk const b = next;
        if (n + 1 < tile_n) next = load(right + chunk_along_k(column(n + 1), at));
#pragma unroll
        for (int i = 0; i < vector; ++i)
#pragma unroll
          for (int m = 0; m < tile_m; ++m) add(m, n, a[m].elements[i], b.elements[i]);
      }
    } else {
#pragma unroll
      for (int i = 0; i < vector; ++i)
#pragma unroll
        for (int n = 0; n < tile_n; n += vector) {
          chunk const b = load(right + chunk_across_k<T, Columns>(at * vector + i, column(n) / vector));
#pragma unroll
          for (int j = 0; j < vector; ++j)
#pragma unroll
            for (int m = 0; m < tile_m; ++m) add(m, n + j, a[m].elements[i], b.elements[j]);
        }
    }
  }

  __device__ void add(int m, int n, T a, T b) {
    sums_[m][n] += static_cast<accumulate>(a) * static_cast<accumulate>(b);
  }

  accumulate sums_[tile_m][tile_n] = {};
};

}  // namespace rnnopt::detail

#pragma once

#include <cstdint>

#include "rnnopt/device/fragments.cuh"
#include "rnnopt/device/step_operands.cuh"

/// A step's product on the matrix units: mma.sync on fragments read with ldmatrix.
///
/// Warps share the tile WarpsM x WarpsN; WarpsK of them share its k: each takes every WarpsK-th of a box's four
/// k-steps (two chunks each) and keeps partial sums of its own.

namespace rnnopt::detail {

template <class Precision, int Rows, int Columns, weight_rows Order>
class matrix_unit_product {
  using T = typename Precision::storage;

  /// As many as leave each warp 32 columns and the block 8 warps.
  static constexpr int warps_along_n() {
    int warps = 1;
    // A tile of 64 rows is shared by two halves of k, as in warpgroup_product.cuh.
    while (2 * warps * warps_m <= (Rows == 64 ? 4 : 8) && Columns % (2 * warps * 8) == 0 && Columns / (2 * warps) >= 32)
      warps *= 2;
    return warps;
  }

 public:
  static constexpr int warps_m = Rows == 64 && Columns % 64 != 0 ? 4 : Rows >= 32 ? 2 : 1;
  static constexpr int warps_n = warps_along_n();
  static constexpr int warps_k = warps_m * warps_n <= 2 ? 4 : 8 / (warps_m * warps_n);
  static constexpr int threads = 32 * warps_m * warps_n * warps_k;
  static constexpr int partial_sums = warps_k;
  static constexpr bool unrolls = true;  ///< the boxes of a stage

  /// Adds the product of one box; addresses are in shared memory.
  __device__ void multiply(std::uint32_t left, std::uint32_t right) {
#pragma unroll
    for (int step = 0; step < 4 / warps_k; ++step) multiply_step(left, right, step * warps_k + k_part());
  }

  __device__ void finish_stage() {}

  /// Writes this warp's sums to [partial_sums, Rows, pitch].
  __device__ void store(float* to, int pitch) const {
    int const lane = int(threadIdx.x) % 32;
    float* const mine = to + (k_part() * Rows + first_row() + lane / 4) * pitch + first_column() + 2 * (lane % 4);
#pragma unroll
    for (int m = 0; m < tiles_m; ++m)
#pragma unroll
      for (int n = 0; n < tiles_n; ++n) {
        float* const at = mine + 16 * m * pitch + 8 * n;
        *reinterpret_cast<float2*>(at) = make_float2(sums_[m][n][0], sums_[m][n][1]);
        *reinterpret_cast<float2*>(at + 8 * pitch) = make_float2(sums_[m][n][2], sums_[m][n][3]);
      }
  }

 private:
  static constexpr int tiles_m = Rows / 16 / warps_m;
  static constexpr int tiles_n = Columns / 8 / warps_n;
  static_assert(tiles_m * warps_m * 16 == Rows && tiles_n * warps_n * 8 == Columns);

  __device__ static int warp() { return int(threadIdx.x) / 32; }
  __device__ static int k_part() { return warp() / (warps_m * warps_n); }
  __device__ static int first_row() { return warp() % warps_m * (Rows / warps_m); }
  __device__ static int first_column() { return warp() / warps_m % warps_n * (Columns / warps_n); }

  __device__ void multiply_step(std::uint32_t left, std::uint32_t right, int step) {
    int const lane = int(threadIdx.x) % 32;
    std::uint32_t a[tiles_m][4];
#pragma unroll
    for (int m = 0; m < tiles_m; ++m) {
      load_fragments(a[m], left + chunk_along_k(first_row() + 16 * m + lane % 16, 2 * step + lane / 16));
      round_fragments<T>(a[m]);
    }
#pragma unroll
    for (int n = 0; n < tiles_n; ++n) {
      std::uint32_t b[2];
      load_right_fragments(b, right, first_column() + 8 * n, step);
      round_fragments<T>(b);
#pragma unroll
      for (int m = 0; m < tiles_m; ++m) multiply_fragments<T>(sums_[m][n], a[m], b);
    }
  }

  __device__ static void load_right_fragments(std::uint32_t (&b)[2], std::uint32_t right, int column, int step) {
    int const lane = int(threadIdx.x) % 32;
    if constexpr (Order == weight_rows::along_k) {
      load_fragments(b, right + chunk_along_k(column + lane % 8, 2 * step + lane / 8 % 2));
    } else if constexpr (sizeof(T) == 2) {
      load_transposed_fragments(b, right + chunk_across_k<T, Columns>(16 * step + lane % 16, column / 8));
    } else {
#pragma unroll
      for (int half_step = 0; half_step < 2; ++half_step) {
        int const k = 8 * step + 4 * half_step + lane % 4, n = column + lane / 4;
        std::uint32_t const address = right + chunk_across_k<T, Columns>(k, n / 4) + n % 4 * 4;
        asm volatile("ld.shared.b32 %0, [%1];" : "=r"(b[half_step]) : "r"(address));
      }
    }
  }

  float sums_[tiles_m][tiles_n][4] = {};
};

}  // namespace rnnopt::detail

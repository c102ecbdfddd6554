#pragma once

#include <cstdint>

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
  /// A warp's threads along rows and columns; 0 where they do not come out even.
  static constexpr int patch_n = threads_n % 8 == 0 && threads_m % 4 == 0    ? 8
                                 : threads_n % 4 == 0 && threads_m % 8 == 0  ? 4
                                 : threads_n % 2 == 0 && threads_m % 16 == 0 ? 2
                                                                             : 0;
  static constexpr int patch_m = patch_n > 0 ? 32 / patch_n : 0;
  static constexpr int patches_n = patch_n > 0 ? threads_n / patch_n : 0;
  static_assert(threads_m * tile_m == Rows && threads_n * tile_n == Columns && group <= 256);

 public:
  static constexpr int threads = 256;
  static constexpr int partial_sums = groups;
  /// The boxes of a stage and the chunks of a box, written out unless that is more code than is fetched in time.
  static constexpr bool unrolls = tile_m * tile_n <= 16;

  __device__ void multiply(std::uint32_t left, std::uint32_t right) {
    if (groups * group < threads && int(threadIdx.x) >= groups * group) return;
#pragma unroll(unrolls ? 8 / groups : 1)
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
  /// Where a thread's sums lie among those of its group. The threads of a warp cover a patch; those whose numbers
  /// differ in their lowest bit share a row and those that differ in the next share a column, since shared memory
  /// serves 16-byte reads of such pairs together: half the time of another order.
  __device__ static int thread_m() {
    int const thread = int(threadIdx.x) % group;
    if constexpr (patch_n == 0) return thread / threads_n;
    else return thread / 32 / patches_n * patch_m + (thread / 2 % 2 + thread % 32 / (2 * patch_n) * 2);
  }
  __device__ static int thread_n() {
    int const thread = int(threadIdx.x) % group;
    if constexpr (patch_n == 0) return thread % threads_n;
    else return thread / 32 % patches_n * patch_n + (thread % 2 + thread / 4 % (patch_n / 2) * 2);
  }
  /// Rows of one thread are threads_m apart, so that the threads of a warp read neighbouring rows.
  __device__ static int row(int m) { return thread_m() + m * threads_m; }
  __device__ static int column(int n) {
    if constexpr (Order == weight_rows::along_k) return thread_n() + n * threads_n;
    else return (thread_n() + n / vector * threads_n) * vector + n % vector;
  }

  struct alignas(16) chunk {
    T elements[vector];
  };
  __device__ static chunk load(std::uint32_t address) {
    return *static_cast<chunk const*>(__cvta_shared_to_generic(address));
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

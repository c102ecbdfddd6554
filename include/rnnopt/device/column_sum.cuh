#pragma once

#include <algorithm>
#include <cstdint>

#include "rnnopt/device/cuda_error.cuh"

/// Sums of the columns of a matrix: bias and unit-parameter gradients.
///
/// Two kernels, so that the result does not depend on timing: blocks of 32 columns sum a chunk of rows each, then one
/// thread a column adds the chunks in order. Cost: one read of the matrix.

namespace rnnopt::detail {

/// Chunks of rows, hence rows of the partial sums.
inline constexpr std::int64_t column_sum_chunks = 64;

template <class T, class Sum>
__global__ void __launch_bounds__(256)
    column_sum_chunk_kernel(T const* from, std::int64_t rows, std::int64_t columns, std::int64_t row_stride,
                            Sum* partial, std::uint32_t tiles, std::int64_t rows_per_chunk) {
  __shared__ Sum shared[8][33];
  std::int64_t const column = std::int64_t(blockIdx.x % tiles) * 32 + threadIdx.x;
  std::int64_t const chunk = blockIdx.x / tiles;
  std::int64_t const limit = (chunk + 1) * rows_per_chunk, end = rows < limit ? rows : limit;
  Sum sum = 0;
  if (column < columns)
    for (std::int64_t row = chunk * rows_per_chunk + threadIdx.y; row < end; row += 8)
      sum += static_cast<Sum>(from[row * row_stride + column]);
  shared[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y != 0 || column >= columns) return;
  for (int i = 1; i < 8; ++i) sum += shared[i][threadIdx.x];
  partial[chunk * columns + column] = sum;
}

template <class Sum>
__global__ void __launch_bounds__(128)
    column_sum_total_kernel(Sum const* partial, std::int64_t chunks, std::int64_t columns, Sum* out, bool accumulate) {
  std::int64_t const column = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (column >= columns) return;
  Sum sum = 0;
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) sum += partial[chunk * columns + column];
  out[column] = accumulate ? out[column] + sum : sum;
}

/// out [columns] (+)= sums of from [rows, columns]; `partial` has column_sum_chunks * columns elements.
template <class T, class Sum>
void launch_column_sum(cudaStream_t stream, T const* from, std::int64_t rows, std::int64_t columns,
                       std::int64_t row_stride, Sum* out, bool accumulate, Sum* partial) {
  std::int64_t const chunks = std::clamp<std::int64_t>((rows + 31) / 32, 1, column_sum_chunks);
  std::int64_t const tiles = (columns + 31) / 32;
  column_sum_chunk_kernel<T, Sum><<<unsigned(tiles * chunks), dim3(32, 8), 0, stream>>>(
      from, rows, columns, row_stride, partial, std::uint32_t(tiles), (rows + chunks - 1) / chunks);
  require_success(cudaGetLastError(), "launching column_sum");
  column_sum_total_kernel<Sum>
      <<<unsigned((columns + 127) / 128), 128, 0, stream>>>(partial, chunks, columns, out, accumulate);
  require_success(cudaGetLastError(), "launching column_sum");
}

}  // namespace rnnopt::detail

#pragma once

#include <cstdint>
#include <type_traits>

#include "rnnopt/device/cuda_error.cuh"

/// Transposed copies of weights, [rows, columns] -> [columns, rows], both row-major.
///
/// Cost: each element is read and written once, in whole runs of 32 on both sides; a tile turns in shared memory.

namespace rnnopt::detail {

inline constexpr int transpose_tile = 32;
inline constexpr int transpose_rows = 8;  ///< of a tile, at once

/// An element is moved, not computed with: all that counts is its size.
template <std::size_t Bytes>
using element_of_size =
    std::conditional_t<Bytes == 2, std::uint16_t, std::conditional_t<Bytes == 4, std::uint32_t, std::uint64_t>>;

template <class T>
__global__ void __launch_bounds__(transpose_tile* transpose_rows)
    transpose_kernel(T const* from, T* to, std::int64_t rows, std::int64_t columns, std::int64_t tiles) {
  __shared__ T tile[transpose_tile][transpose_tile + 1];  // one more, so that a column lies in different banks
  std::int64_t const row = blockIdx.x / tiles * transpose_tile, column = blockIdx.x % tiles * transpose_tile;
  for (int i = threadIdx.y; i < transpose_tile; i += transpose_rows)
    if (row + i < rows && column + threadIdx.x < columns)
      tile[i][threadIdx.x] = from[(row + i) * columns + column + threadIdx.x];
  __syncthreads();
  for (int i = threadIdx.y; i < transpose_tile; i += transpose_rows)
    if (column + i < columns && row + threadIdx.x < rows)
      to[(column + i) * rows + row + threadIdx.x] = tile[threadIdx.x][i];
}

/// to [columns, rows] = from [rows, columns] transposed.
template <class T>
void launch_transpose(cudaStream_t stream, T const* from, T* to, std::int64_t rows, std::int64_t columns) {
  static_assert(sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);
  using element = element_of_size<sizeof(T)>;
  if (rows == 0 || columns == 0) return;
  std::int64_t const tiles = (columns + transpose_tile - 1) / transpose_tile;
  std::int64_t const blocks = (rows + transpose_tile - 1) / transpose_tile * tiles;
  transpose_kernel<<<unsigned(blocks), dim3(transpose_tile, transpose_rows), 0, stream>>>(
      reinterpret_cast<element const*>(from), reinterpret_cast<element*>(to), rows, columns, tiles);
  require_success(cudaGetLastError(), "launching transpose");
}

}  // namespace rnnopt::detail

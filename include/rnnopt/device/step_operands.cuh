#pragma once

#include <cstdint>
#include <type_traits>

#include "rnnopt/device/tensor_copy.cuh"
#include "rnnopt/half.hpp"

/// The operands of one step's product and how a tile of them lies in shared memory.
///
/// Shared memory holds both operands in chunks of 16 bytes. A box is 128 bytes of k: `box_k` elements. Where rows
/// run along k a row of a box is 8 chunks, and chunk c of row r lies at place c ^ (r % 8). Where rows run across k
/// (the weights in backward), a row holds the tile's columns, at most 8 chunks of them: wider tiles are several such
/// blocks one after the other; the chunks are exchanged so that 8 consecutive rows of one column of chunks lie in 8
/// different places of a 128-byte line. That is what the copy engine does by itself, and a warp reads without bank
/// conflicts.

namespace rnnopt::detail {

/// Which way the rows of the weights run in memory.
enum class weight_rows {
  along_k,  ///< forward: row = gate row, its elements are the k's
  across_k  ///< backward: row = k (gate row), its elements are the columns (units)
};

template <class T>
inline constexpr int chunk_elements = 16 / int(sizeof(T));
template <class T>
inline constexpr int box_k = 8 * chunk_elements<T>;

/// Chunks of a row of weights that run across k.
template <class T, int Columns>
inline constexpr int chunks_across = Columns / chunk_elements<T> < 8 ? Columns / chunk_elements<T> : 8;

/// Byte offset of a chunk of an operand whose rows run along k.
__device__ constexpr int chunk_along_k(int row, int chunk) { return row * 128 + ((chunk ^ (row & 7)) << 4); }

/// Byte offset of a chunk of an operand whose rows run across k.
template <class T, int Columns>
__device__ constexpr int chunk_across_k(int k, int chunk) {
  constexpr int row_chunks = chunks_across<T, Columns>, rows_per_line = 8 / row_chunks;
  int const block = chunk / row_chunks * (box_k<T> * row_chunks * 16);
  return block + k * row_chunks * 16 + ((chunk % row_chunks ^ ((k / rows_per_line) & (row_chunks - 1))) << 4);
}

template <class T>
constexpr CUtensorMapDataType map_type() {
  if constexpr (std::is_same_v<T, half>) return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  else if constexpr (std::is_same_v<T, bfloat16>) return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  else if constexpr (std::is_same_v<T, float>) return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  else return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
}

/// [rows, columns] = left [rows, k] right, for a block of columns of each gate.
struct step_operands {
  CUtensorMap left;            ///< h [rows, k], or the following step's gate gradients
  CUtensorMap right;           ///< along_k: [blocks, hidden, k]; across_k: [k, hidden]
  std::int32_t rows;           ///< batch
  std::int32_t hidden;         ///< columns of a block
  std::int32_t boxes;          ///< of box_k each, that cover k
  std::int32_t cluster_boxes;  ///< that a block of the cluster multiplies
  std::int32_t tiles_across;   ///< that cover `hidden`
  std::int32_t stages;         ///< that a block has room for
  std::int32_t stage_area;     ///< bytes for stages, and then for sums, of a block's shared memory
  std::int32_t cluster;        ///< blocks that share a tile: 1, 2, 4 or 8
  std::int32_t cluster_shift;  ///< log2 of it
};

}  // namespace rnnopt::detail

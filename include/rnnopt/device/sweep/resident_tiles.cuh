#pragma once

#include <cstdint>

#include "rnnopt/device/fragments.cuh"
#include "rnnopt/device/sweep/cluster_team.cuh"

/// A warp's part of the matrix that stays on the chip for a whole sweep: two tiles of 16 rows side by side, along k as
/// many as there are; the first pairs along k in registers, the others in shared memory, in the order in which the
/// lanes of the warp want them.

namespace rnnopt::detail {

/// Pairs: pairs of tiles along k that are kept in registers.
template <class T, int Pairs>
class resident_tiles {
 public:
  resident_tiles() = default;
  /// `pairs` pairs, of which those beyond Pairs are or will be at `shared`, which is this warp's own.
  __device__ resident_tiles(int pairs, unsigned char* shared)
      : pairs_(pairs), shared_(shared_address(shared) + unsigned(threadIdx.x % 32) * 16) {}

  /// Fetches what is kept in registers: `fetch(tile of rows, tile along k, words)` gives the four words of a lane,
  /// which come together at `stage`, room for a pair and this warp's own, since code that fetches straight into so many
  /// registers would be longer than the sweep itself.
  template <class Fetch>
  __device__ void load_registers(Fetch const& fetch, int first_row_tile, int first_pair, unsigned char* stage) {
    resident_tiles<T, 0> staged(1, stage);
#pragma unroll
    for (int p = 0; p < Pairs; ++p) {
      if (p < pairs_) staged.load_shared(fetch, first_row_tile, first_pair + p);
#pragma unroll
      for (int m = 0; m < 2; ++m)
#pragma unroll
        for (int half_pair = 0; half_pair < 2; ++half_pair) {
          if (p < pairs_) {
            staged.read(kept_[p][m][half_pair], 0, 2 * m + half_pair);
          } else {
#pragma unroll
            for (int w = 0; w < 4; ++w) kept_[p][m][half_pair][w] = 0;
          }
        }
      __syncwarp();
    }
  }
  /// Fetches what is kept in shared memory.
  template <class Fetch>
  __device__ void load_shared(Fetch const& fetch, int first_row_tile, int first_pair) const {
#pragma unroll 1
    for (int i = Pairs * 4; i < pairs_ * 4; ++i) {
      std::uint32_t words[4];
      fetch(first_row_tile + i / 2 % 2, 2 * (first_pair + i / 4) + i % 2, words);
      round_fragments<T>(words);
      asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(address_of(i / 4, i % 4)), "r"(words[0]),
                   "r"(words[1]), "r"(words[2]), "r"(words[3])
                   : "memory");
    }
    __syncwarp();
  }

  /// sums [Parts][2][NTiles][4] += the matrix times an operand in shared memory: rows of it `pitch` bytes apart, 8 a
  /// tile; `operand` points at the first byte of k of this warp. An instruction waits for the one before it that adds
  /// to the same sums: with two parts, even and odd tiles along k have sums of their own.
  template <int Parts, int NTiles>
  __device__ void multiply(float (&sums)[Parts][2][NTiles][4], std::uint32_t operand, int pitch) const {
    int const lane = int(threadIdx.x) % 32;
    std::uint32_t const rows = operand + unsigned(lane % 8 * pitch + lane / 8 * 16);
    // The operand of a pair is on its way while the one before is multiplied.
    std::uint32_t next[NTiles][4];
    if (pairs_ > 0) read_operand(next, rows, pitch);
#pragma unroll
    for (int p = 0; p < Pairs; ++p)
      if (p < pairs_) multiply_pair(sums, kept_[p], next, rows + (p + 1) * pair_bytes, pitch, p + 1 < pairs_);
#pragma unroll 1
    for (int p = Pairs; p < pairs_; ++p) {
      std::uint32_t tiles[2][2][4];
#pragma unroll
      for (int tile = 0; tile < 4; ++tile) read(tiles[tile / 2][tile % 2], p, tile);
      multiply_pair(sums, tiles, next, rows + (p + 1) * pair_bytes, pitch, p + 1 < pairs_);
    }
  }

  /// The words of a lane in a tile that is in shared memory.
  __device__ void read(std::uint32_t (&to)[4], int pair, int tile) const {
    asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(address_of(pair, tile)));
  }

 private:
  __device__ std::uint32_t address_of(int pair, int tile) const {
    return shared_ + unsigned(((pair - Pairs) * 4 + tile) * tile_bytes);
  }

  template <int NTiles>
  __device__ static void read_operand(std::uint32_t (&to)[NTiles][4], std::uint32_t rows, int pitch) {
#pragma unroll
    for (int n = 0; n < NTiles; ++n) {
      load_fragments(to[n], rows + unsigned(n * 8 * pitch));
      round_fragments<T>(to[n]);
    }
  }
  /// `operand` is that of this pair, and afterwards that of the next, which is at `rows`, if there is one.
  template <int Parts, int NTiles>
  __device__ static void multiply_pair(float (&sums)[Parts][2][NTiles][4], std::uint32_t const (&tiles)[2][2][4],
                                       std::uint32_t (&operand)[NTiles][4], std::uint32_t rows, int pitch,
                                       bool has_next) {
    std::uint32_t next[NTiles][4] = {};
    if (has_next) read_operand(next, rows, pitch);
#pragma unroll
    for (int n = 0; n < NTiles; ++n) {
#pragma unroll
      for (int half_pair = 0; half_pair < 2; ++half_pair) {
        std::uint32_t const right[2] = {operand[n][2 * half_pair], operand[n][2 * half_pair + 1]};
#pragma unroll
        for (int m = 0; m < 2; ++m) multiply_fragments<T>(sums[half_pair % Parts][m][n], tiles[m][half_pair], right);
      }
#pragma unroll
      for (int w = 0; w < 4; ++w) operand[n][w] = next[n][w];
    }
  }

  std::uint32_t kept_[Pairs > 0 ? Pairs : 1][2][2][4];
  int pairs_;
  std::uint32_t shared_;
};

}  // namespace rnnopt::detail

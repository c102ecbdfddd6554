#pragma once

#include <cstdint>

#include "rnnopt/device/fragments.cuh"
#include "rnnopt/device/sweep/cluster_team.cuh"

/// A warp's part of the matrix that stays on the chip for a whole sweep: MTiles tiles of 16 rows, along k as many pairs
/// of tiles as there are; the first Pairs of these in registers, the others in shared memory, in the order in which the
/// lanes of the warp want them.
///
/// The order of k within a pair is free as long as both operands have the same: lane l takes the 16 bytes number l % 4
/// of the pair's 64, so that an operand comes with one 16-byte load a lane from wherever it is, and a row of the matrix
/// as well.

namespace rnnopt::detail {

template <class T, int MTiles, int Pairs>
class resident_tiles {
 public:
  /// Of shared memory that load_registers needs for a warp.
  static constexpr int kept_bytes = Pairs * MTiles * 2 * tile_bytes;

  resident_tiles() = default;
  /// `pairs` pairs, of which those beyond Pairs are or will be at `shared`, which is this warp's own.
  __device__ resident_tiles(int pairs, unsigned char* shared) : pairs_(pairs), shared_(lane_address(shared)) {}

  /// Fetches what is kept in registers: `fetch(tile of rows, pair, lower, upper)` gives the 16 bytes of a lane of the
  /// rows lane / 4 and lane / 4 + 8. They come together at `stage`, this warp's own, since code that fetches straight
  /// into so many registers would be longer than the sweep itself.
  template <class Fetch>
  __device__ void load_registers(Fetch const& fetch, int first_pair, unsigned char* stage) {
    std::uint32_t const at = lane_address(stage);
    int const there = pairs_ < Pairs ? pairs_ : Pairs;
#pragma unroll 1
    for (int i = 0; i < there * MTiles; ++i) fetch_tiles(fetch, i % MTiles, first_pair + i / MTiles, tile_at(at, i));
#pragma unroll
    for (int p = 0; p < Pairs; ++p)
#pragma unroll
      for (int m = 0; m < MTiles; ++m)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          if (p < pairs_) {
            read(kept_[p][m][half], tile_at(at, p * MTiles + m) + half * tile_bytes);
          } else {
#pragma unroll
            for (int w = 0; w < 4; ++w) kept_[p][m][half][w] = 0;
          }
        }
  }
  /// Fetches what is kept in shared memory.
  template <class Fetch>
  __device__ void load_shared(Fetch const& fetch, int first_pair) const {
#pragma unroll 1
    for (int i = Pairs * MTiles; i < pairs_ * MTiles; ++i)
      fetch_tiles(fetch, i % MTiles, first_pair + i / MTiles, tile_at(shared_, i - Pairs * MTiles));
  }

  /// sums [Parts][MTiles][4] += the matrix times 8 rows of an operand in shared memory, of whose row lane / 4 `row` is
  /// the address of this lane's 16 bytes of the warp's first pair. An instruction waits for the one before it that adds
  /// to the same sums: with several parts, tiles along k have sums of their own.
  template <int Parts>
  __device__ void multiply(float (&sums)[Parts][MTiles][4], std::uint32_t row) const {
    if (pairs_ >= Pairs) {
      multiply_kept<Parts, false>(sums, row);
#pragma unroll 1
      for (int p = Pairs; p < pairs_; ++p) {
        std::uint32_t right[4], tiles[MTiles][2][4];
        read(right, row + unsigned(p * pair_bytes));
#pragma unroll
        for (int m = 0; m < MTiles; ++m)
#pragma unroll
          for (int half = 0; half < 2; ++half)
            read(tiles[m][half], tile_at(shared_, (p - Pairs) * MTiles + m) + half * tile_bytes);
        multiply_pair<Parts>(sums, tiles, right, 0);
      }
    } else {
      multiply_kept<Parts, true>(sums, row);
    }
  }

 private:
  __device__ static std::uint32_t lane_address(unsigned char* shared) {
    return shared_address(shared) + threadIdx.x % 32 * 16;
  }
  /// Where the i-th two tiles of a pair are, if the first are at `first`.
  __device__ static std::uint32_t tile_at(std::uint32_t first, int i) { return first + unsigned(i * 2 * tile_bytes); }

  __device__ static void read(std::uint32_t (&to)[4], std::uint32_t address) {
    asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(address));
  }

  /// Two tiles of a pair, from the rows of the matrix to the order of the matrix instruction.
  template <class Fetch>
  __device__ static void fetch_tiles(Fetch const& fetch, int m, int pair, std::uint32_t to) {
    std::uint32_t lower[4], upper[4];
    fetch(m, pair, lower, upper);
    round_fragments<T>(lower);
    round_fragments<T>(upper);
#pragma unroll
    for (int half = 0; half < 2; ++half)
      asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to + half * tile_bytes), "r"(lower[2 * half]),
                   "r"(upper[2 * half]), "r"(lower[2 * half + 1]), "r"(upper[2 * half + 1])
                   : "memory");
  }

  template <int Parts, bool Checked>
  __device__ void multiply_kept(float (&sums)[Parts][MTiles][4], std::uint32_t row) const {
    std::uint32_t right[Pairs > 0 ? Pairs : 1][4];
#pragma unroll
    for (int p = 0; p < Pairs; ++p)
      if (!Checked || p < pairs_) read(right[p], row + unsigned(p * pair_bytes));
#pragma unroll
    for (int p = 0; p < Pairs; ++p)
      if (!Checked || p < pairs_) multiply_pair<Parts>(sums, kept_[p], right[p], 2 * p);
  }
  /// `first`: number of the pair's first tile along k.
  template <int Parts>
  __device__ static void multiply_pair(float (&sums)[Parts][MTiles][4], std::uint32_t const (&tiles)[MTiles][2][4],
                                       std::uint32_t (&right)[4], int first) {
    round_fragments<T>(right);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      std::uint32_t const words[2] = {right[2 * half], right[2 * half + 1]};
#pragma unroll
      for (int m = 0; m < MTiles; ++m) multiply_fragments<T>(sums[(first + half) % Parts][m], tiles[m][half], words);
    }
  }

  std::uint32_t kept_[Pairs > 0 ? Pairs : 1][MTiles][2][4];
  int pairs_;
  std::uint32_t shared_;
};

}  // namespace rnnopt::detail

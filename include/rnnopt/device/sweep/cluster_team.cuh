#pragma once

#include <cstdint>
#include <cstring>

#include "rnnopt/device/tensor_copy.cuh"
#include "rnnopt/half.hpp"

/// How the blocks of a cluster share the work of a sweep (Diamos et al. 2016, with a cluster in place of the whole
/// GPU).
///
/// A cluster takes `rows` rows of the batch through all steps; its blocks hold R between them, each the rows of R (in
/// backward the columns of its transpose) that belong to its `units` units, and keep the states of these units in
/// registers. The rows are shared out among one or two slots: while the values of one slot travel from block to block,
/// the blocks multiply the other. Each slot has two buffers in shared memory that serve in turn: a block writes those
/// of step t + 2 only after it has received all of step t + 1, and whoever sent that had finished reading step t.
///
/// The first warps of a block hold R and multiply, for one slot after the other; the others run cells, each half of
/// them those of one slot. So the cells of one slot run beside the product of the other. A product warp needs most of
/// its registers for R, a cell warp few: on sm_90a the latter hand some over. Named barriers of the block: 1 + slot in
/// forward, where products arrive and cells wait; 1 + 2 * slot + parity of the step in backward, the other way round.
///
/// Shared memory: mbarriers; buffers that other blocks write (`buffers_at`); what the two kinds of warps of a block
/// hand each other (`handed_at`: sums of the product in forward, gate gradients in backward); biases and unit
/// parameters
/// (`constants_at`); the tiles of R that registers do not hold (`tiles_at`). sweep_plan.cuh chooses the numbers and
/// launches.

namespace rnnopt::detail {

inline constexpr int product_warps = 8;  ///< of a block: they hold R and multiply
inline constexpr int cell_warps = 8;     ///< run the cells, side by side with the products of the other slot
inline constexpr int product_threads = 32 * product_warps;
inline constexpr int team_threads = product_threads + 32 * cell_warps;
inline constexpr int team_slots = 2;                   ///< at most
inline constexpr int fragment_rows = 16;               ///< of R's side of one matrix instruction
inline constexpr int fragment_bytes = 32;              ///< of k in one matrix instruction
inline constexpr int pair_bytes = 2 * fragment_bytes;  ///< of k that one ldmatrix reads
inline constexpr int tile_bytes = 512;                 ///< 16 rows x 32 bytes of R, as the lanes of a warp read it

/// Shape of a compiled kernel.
template <int Pairs, int NTiles, int Cells>
struct cluster_sweep_shape {
  static constexpr int pairs = Pairs;     ///< of tiles of R along k that a warp keeps in registers
  static constexpr int n_tiles = NTiles;  ///< tiles of 8 rows of the batch in a slot
  static constexpr int cells = Cells;     ///< (row, unit) pairs of a thread
  static constexpr int rows = 8 * NTiles;
  static constexpr int kept_groups = 2;                   ///< of tiles that a warp has partly in registers, backward
  static constexpr int kept_pairs = Pairs / kept_groups;  ///< of each
  static constexpr int product_registers = Pairs > 6 ? 168 : Pairs > 4 ? 152 : 136;  ///< of a thread that multiplies
  static constexpr int cell_registers = Pairs > 6 ? 80 : Pairs > 4 ? 96 : 112;       ///< of a thread that runs cells
};

/// Extents of a cluster's part and where it lies in the shared memory of each block.
struct cluster_team {
  std::int32_t hidden;
  std::int32_t batch;
  std::int32_t cluster;          ///< blocks: 2, 4, 8 or 16
  std::int32_t units;            ///< of a block, a multiple of 16; the last blocks may have fewer real ones
  std::int32_t rows;             ///< of the batch
  std::int32_t slots;            ///< 1 or 2
  std::int32_t slot_rows;        ///< rows of each slot, but the last
  std::int32_t warps_m;          ///< warps side by side over the rows of R, two tiles each
  std::int32_t warps_k;          ///< warps that share k: 1, 2, 4 or 8
  std::int32_t pairs;            ///< of tiles along k that each of them takes, but the last
  std::int32_t pitch;            ///< bytes of a row of the operand that is multiplied with R
  std::int32_t tiles_to_blocks;  ///< a tile of 16 units times this, over 2^16, is the block that has it
  std::int32_t sums_pitch;       ///< elements of a row of sums
  std::int32_t received;         ///< bytes of one buffer of one slot
  std::int32_t buffers_at, handed_at, constants_at, tiles_at;  ///< bytes from the start of shared memory
};

/// This thread's and this block's place in the team.
struct team_place {
  int rank, warp, lane;
  int first_row;  ///< of the batch
  int rows;       ///< of the batch that are there
  int slots;      ///< that have rows: the barrier of an empty one would run ahead of those that wait at it

  __device__ explicit team_place(cluster_team const& t)
      : rank(int(rank_in_cluster())), warp(int(threadIdx.x) / 32), lane(int(threadIdx.x) % 32) {
    first_row = int(blockIdx.x) / t.cluster * t.rows;
    rows = t.batch - first_row < t.rows ? t.batch - first_row : t.rows;
    slots = (rows + t.slot_rows - 1) / t.slot_rows;
  }
  __device__ int rows_of(cluster_team const& t, int slot) const {
    int const left = rows - slot * t.slot_rows;
    return left < 0 ? 0 : left < t.slot_rows ? left : t.slot_rows;
  }
};

/// Waits for all threads of all blocks of the cluster; what they have written in shared memory can be read.
__device__ inline void synchronize_cluster() {
#if RNNOPT_DEVICE_90
  asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

/// The same number, of which the compiler knows nothing: what is computed from it is computed where it is needed. A
/// pointer for each thing that a step reads and writes would otherwise be kept from step to step, and the registers
/// that this takes are those of the values on their way from memory, which a step would then wait for.
__device__ inline std::int64_t unknown(std::int64_t number) {
  asm volatile("" : "+l"(number));
  return number;
}
__device__ inline int unknown(int number) {
  asm volatile("" : "+r"(number));
  return number;
}

/// The registers that each thread of a group of four warps has from here on: more of them for some only once others
/// have given theirs away.
template <int Count>
__device__ void give_away_registers() {
#if RNNOPT_DEVICE_90A
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Count));
#endif
}
template <int Count>
__device__ void take_registers() {
#if RNNOPT_DEVICE_90A
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Count));
#endif
}

/// What the kernels of a sweep have in common: their block's place and the buffers that other blocks write.
class team_block {
 protected:
  struct barriers {
    shared_barrier full[team_slots][2];  ///< all that is to come has come into a buffer of a slot
  };

  __device__ team_block(cluster_team const& t, unsigned char* shared) : t_(t), me_(t), shared_(shared) {}

  __device__ barriers& bars() const { return *reinterpret_cast<barriers*>(shared_); }
  __device__ unsigned char* buffer(int slot, int parity) const {
    return shared_ + t_.buffers_at + (2 * slot + parity) * t_.received;
  }
  __device__ int first_unit() const { return me_.rank * t_.units; }

  /// One thread: `expect(slot, parity)` announces what will come into a buffer.
  template <class Expect>
  __device__ void prepare_barriers(Expect const& expect) const {
    for (int slot = 0; slot < me_.slots; ++slot)
      for (int parity = 0; parity < 2; ++parity) bars().full[slot][parity].init(1);
    publish_barriers();
    for (int slot = 0; slot < me_.slots; ++slot)
      for (int parity = 0; parity < 2; ++parity) expect(slot, parity);
  }

  cluster_team const& t_;
  team_place me_;
  unsigned char* shared_;
};

/// Runs a kernel of a sweep: all threads prepare it, then each of the two kinds of warps does its part.
template <class Shape, class Sweep>
__device__ void run_team(Sweep&& sweep) {
  static_assert(product_threads * Shape::product_registers + (team_threads - product_threads) * Shape::cell_registers <=
                65536);
  sweep.prepare();
  if (int(threadIdx.x) < product_threads) {
    take_registers<Shape::product_registers>();
    sweep.run_products();
  } else {
    give_away_registers<Shape::cell_registers>();
    sweep.run_cells();
  }
  synchronize_cluster();  // no block ends while another may still send to it
}

/// Arrives at a barrier of the block for `threads` threads without waiting for them.
__device__ inline void arrive_for_threads(int number, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

/// The elements of consecutive lanes as one packet of 16 bytes, which all of them get; every lane of the warp calls it.
template <class T>
__device__ void gather_packet(T value, std::uint32_t (&words)[4]) {
  int const lane = int(threadIdx.x) % 32;
  if constexpr (sizeof(T) == 2) {
    std::uint16_t bits;
    memcpy(&bits, &value, 2);
    std::uint32_t const other = __shfl_xor_sync(~0u, std::uint32_t(bits), 1);
    std::uint32_t const word = lane % 2 == 0 ? bits | other << 16 : std::uint32_t(bits) << 16 | other;
#pragma unroll
    for (int w = 0; w < 4; ++w) words[w] = __shfl_sync(~0u, word, (lane & ~7) + 2 * w);
  } else {
    static_assert(sizeof(T) == 4);
    std::uint32_t word;
    memcpy(&word, &value, 4);
#pragma unroll
    for (int w = 0; w < 4; ++w) words[w] = __shfl_sync(~0u, word, (lane & ~3) + w);
  }
}

}  // namespace rnnopt::detail

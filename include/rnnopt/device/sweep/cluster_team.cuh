#pragma once

#include <cstdint>
#include <cstring>

#include "rnnopt/device/tensor_copy.cuh"

/// How the blocks of a cluster share the work of a sweep (Diamos et al. 2016, with a cluster in place of the whole
/// GPU).
///
/// A cluster takes `rows` rows of the batch through all steps; its blocks hold R between them, each the rows of R (in
/// backward the columns of its transpose) that belong to its `units` units, and keep the states of these units in
/// registers. What a block sends to the others goes into one of two buffers of theirs that serve in turn: it writes
/// those of step t + 2 only after it has received all of step t + 1, and whoever sent that had finished reading step t.
///
/// The warps of a block share its part of R, in their registers as far as these hold it (all of them where
/// its tiles come out even, half of them in backward up to hidden 256); then as many warps as there are cells for run
/// these. Two halves of the rows, one multiplied while the other travels, were slower: a step is as long as the way of
/// one row through it, and warps that run cells are late for the other half's product.
///
/// Shared memory: mbarriers; buffers that other blocks write (`buffers_at`); what the warps of a block hand each other
/// (`handed_at`: sums of the product in forward, gate gradients in backward); biases and unit parameters
/// (`constants_at`); the tiles of R that registers do not hold (`tiles_at`). Those that they do hold come through all
/// of it but the barriers, before anything else is there. sweep_plan.cuh chooses a shape and launches.

namespace rnnopt::detail {

inline constexpr int team_warps = 16;  ///< of a block
inline constexpr int team_threads = 32 * team_warps;
inline constexpr int fragment_rows = 16;   ///< of R's side of one matrix instruction
inline constexpr int operand_rows = 8;     ///< of the batch in one matrix instruction
inline constexpr int fragment_bytes = 32;  ///< of k in one matrix instruction
inline constexpr int pair_bytes = 2 * fragment_bytes;
inline constexpr int tile_bytes = 512;         ///< 16 rows x 32 bytes of R, as the lanes of a warp read it
inline constexpr int resident_registers = 64;  ///< of a thread that hold R, at most

/// What a kernel is compiled for. Networks are padded to it: numbers that are known when a step is compiled are not
/// computed in it, and a step is as long as its instructions.
template <int Units, int Cluster, int Rows>
struct team_shape {
  static constexpr int units = Units;      ///< of a block
  static constexpr int cluster = Cluster;  ///< blocks
  static constexpr int rows = Rows;        ///< of the batch, at most
  static constexpr int width = Units * Cluster;
  static constexpr int unit_tiles = Units / fragment_rows;
  static constexpr int room = (Rows + operand_rows - 1) / operand_rows * operand_rows;  ///< rows of an operand
  static_assert(Cluster == 8 || Cluster == 16);
  static_assert(Units % fragment_rows == 0 &&
                Rows <= 2 * (team_warps / unit_tiles));  // one cell a thread, two rows a warp
};

/// Bytes of a row of an operand: those that a warp reads at once are in different banks.
constexpr int operand_pitch(int bytes) { return bytes + (bytes % 128 == 0 ? 64 : 0); }
/// Pairs of tiles along k, of so many and m_tiles side by side, that the registers of a warp hold.
constexpr int pairs_in_registers(int pairs, int m_tiles) {
  int const most = resident_registers / (8 * m_tiles);
  return pairs < most ? pairs : most;
}
/// Bytes of shared memory, rounded up so that what comes after them is aligned.
constexpr int aligned_bytes(int bytes) { return (bytes + 127) / 128 * 128; }

/// How a batch is cut, the same for all clusters.
struct cluster_team {
  std::int32_t hidden;
  std::int32_t batch;
  std::int32_t rows;  ///< of the batch, but for the last cluster
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

/// Arrives at a barrier of the block for `threads` threads without waiting for them.
__device__ inline void arrive_for_threads(int number, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

/// A value from memory that has come: without this, every use in a loop that might be the first waits for whatever the
/// warp has asked memory for by then. All lanes of a warp call it.
template <class T>
__device__ T arrived(T value) {
  return __shfl_sync(~0u, value, int(threadIdx.x % 32));
}

/// What the kernels of a sweep have in common: their block's place, the buffers that other blocks write, and where
/// things lie in shared memory, of which Layout says how many bytes each takes.
template <class Shape, class Layout>
class team_block {
  using accumulate = typename Layout::accumulate;

 protected:
  static constexpr int buffers_at = 128;  ///< after the barriers
  static constexpr int handed_at = buffers_at + aligned_bytes(2 * Layout::received);
  static constexpr int constants_at = handed_at + Layout::handed_bytes;
  static constexpr int tiles_at = constants_at + Layout::constants_bytes;
  static constexpr int used_bytes = tiles_at + Layout::tiles_bytes, staged_bytes = buffers_at + Layout::stage_bytes;
  static constexpr int shared_bytes = used_bytes > staged_bytes ? used_bytes : staged_bytes;  ///< of a block

  __device__ team_block(cluster_team const& t, unsigned char* shared)
      : t_(t),
        shared_(shared),
        rank_(int(rank_in_cluster())),
        warp_(int(threadIdx.x / 32)),
        lane_(int(threadIdx.x % 32)),
        first_row_(int(blockIdx.x) / Shape::cluster * t.rows),
        rows_(unknown(t.batch - first_row_ < t.rows ? t.batch - first_row_ : t.rows)) {}

  /// All that is to come has come into a buffer.
  __device__ shared_barrier& full(int parity) const { return reinterpret_cast<shared_barrier*>(shared_)[parity]; }
  __device__ int first_unit() const { return rank_ * Shape::units; }
  /// Biases, where there are any, and unit parameters: [.., units].
  __device__ accumulate* constants() const { return reinterpret_cast<accumulate*>(shared_ + constants_at); }

  /// One thread: `expect(parity)` announces what will come into a buffer.
  template <class Expect>
  __device__ void prepare_barriers(Expect const& expect) const {
    for (int parity = 0; parity < 2; ++parity) full(parity).init(1);
    publish_barriers();
    for (int parity = 0; parity < 2; ++parity) expect(parity);
  }

  cluster_team const& t_;
  unsigned char* shared_;
  int rank_, warp_, lane_;
  int first_row_;  ///< of the batch
  int rows_;       ///< of the batch that are there
};

/// Elements of consecutive lanes as packets of 16 bytes: every lane of the warp calls it and gets the one of a number.
template <class T>
__device__ void gather_packet(T value, int packet, std::uint32_t (&words)[4]) {
  if constexpr (sizeof(T) == 2) {
    std::uint16_t bits;
    memcpy(&bits, &value, 2);
    std::uint32_t const word = bits | __shfl_down_sync(~0u, std::uint32_t(bits), 1) << 16;  // in lanes of even numbers
#pragma unroll
    for (int w = 0; w < 4; ++w) words[w] = __shfl_sync(~0u, word, 8 * packet + 2 * w);
  } else {
    static_assert(sizeof(T) == 4);
    std::uint32_t word;
    memcpy(&word, &value, 4);
#pragma unroll
    for (int w = 0; w < 4; ++w) words[w] = __shfl_sync(~0u, word, 4 * packet + w);
  }
}

}  // namespace rnnopt::detail

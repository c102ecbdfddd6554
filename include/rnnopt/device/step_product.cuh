#pragma once

#include <cstdint>
#include <type_traits>

#include "rnnopt/device/scalar_product.cuh"
#include "rnnopt/device/warpgroup_product.cuh"

/// The product of one step and one tile of (rows x units), all gates of a unit in the tile, its sums left in shared
/// memory for the cell to pick up.
///
/// One warp of a block keeps the copy engine busy, the others multiply what has arrived. The weights do not depend on
/// the step before, so the first stages of them are on their way before the kernel waits for it. The blocks of a
/// cluster share a tile: each multiplies a part of k, sends its sums to the block that owns their rows, and owns a part
/// of the rows itself.
/// Cost of a step: the larger of what the tiles read from L2, (Rows + columns) * k elements each, and of Rows * columns
/// * k multiply-adds per block, plus about one round trip to L2 and, in a cluster, one through the neighbours.

namespace rnnopt::detail {

/// Shared memory for stages: two blocks of a processor have room, but for the largest tiles in clusters, so that the
/// next step's are there in time.
inline constexpr int stage_budget = 98304;

/// Whether a warpgroup takes a tile: the host plans without knowing, so threads and sums have to be those of the warps.
template <class Precision, int Rows, int Columns, weight_rows Order>
constexpr bool takes_warpgroups() {
  if constexpr (RNNOPT_DEVICE_90A && sizeof(typename Precision::storage) == 2 && Rows == 64 &&
                (Columns % 32 == 0 || Columns % 24 == 0)) {
    using warps = matrix_unit_product<Precision, Rows, Columns, Order>;
    return warps::threads == 256 && warps::partial_sums == 2;
  } else {
    return false;
  }
}

/// What multiplies a tile.
template <class Precision, int Rows, int Columns, weight_rows Order>
using tile_product = std::conditional_t<!uses_matrix_units<Precision>, scalar_product<Precision, Rows, Columns, Order>,
                                        std::conditional_t<takes_warpgroups<Precision, Rows, Columns, Order>(),
                                                           warpgroup_product<Precision, Rows, Columns, Order>,
                                                           matrix_unit_product<Precision, Rows, Columns, Order>>>;

/// How the kernel of a step is cut: rows of the batch and units of a block; Blocks is what a unit needs of the product,
/// its recurrent gates in forward and 1 in backward.
template <class Precision, int Rows, int Units, int Blocks, weight_rows Order>
struct step_tile {
  using storage = typename Precision::storage;
  using accumulate = typename Precision::accumulate;
  static constexpr int rows = Rows;
  static constexpr int rows_shift = Rows == 64 ? 6 : Rows == 32 ? 5 : 4;  ///< log2 of it
  static_assert(1 << rows_shift == Rows);
  static constexpr int units = Units;
  static constexpr int blocks = Blocks;
  static constexpr int columns = Units * Blocks;
  static constexpr weight_rows order = Order;
  using product = tile_product<Precision, Rows, columns, Order>;
  static constexpr int multiplying = product::threads;  ///< threads
  static constexpr int threads = multiplying + 32;      ///< and the warp that copies
  static constexpr int pitch = columns + 8;             ///< of the sums, so that neighbouring rows lie in other banks
  static constexpr int box_bytes = (Rows + columns) * 128;  ///< of both operands for box_k of k
  /// Boxes of k a stage: few enough stages that handing them over costs little beside multiplying them.
  static constexpr int stage_boxes = box_bytes > 16384 ? 1 : box_bytes > 8192 ? 2 : 4;
  static constexpr int stage_bytes = stage_boxes * box_bytes;
  static constexpr int stages = stage_budget / stage_bytes < 3 ? 3 : stage_budget / stage_bytes;
  static constexpr int sum_bytes = product::partial_sums * Rows * pitch * int(sizeof(accumulate));
  static constexpr int received_bytes = Rows * pitch * int(sizeof(accumulate));  ///< where blocks share a tile
  static constexpr int barrier_bytes = 1024;
};

/// One block's part in the product of a step.
template <class Tile>
class step_block {
  using T = typename Tile::storage;
  using accumulate = typename Tile::accumulate;

  struct barriers {
    shared_barrier full[Tile::stages];   ///< a stage has arrived
    shared_barrier empty[Tile::stages];  ///< every block that the copy goes to is done with a stage
    shared_barrier received;             ///< sums of the other blocks have arrived
  };
  static_assert(sizeof(barriers) <= Tile::barrier_bytes);

 public:
  __device__ step_block(step_operands const& o, unsigned char* shared)
      : o_(o),
        rank_(int(rank_in_cluster())),
        base_(shared + ((1024u - shared_address(shared) % 1024u) % 1024u)),
        splits_(o.cluster > 1),
        own_shift_(Tile::rows_shift - o.cluster_shift) {
    int const tile = int(blockIdx.x) / o.cluster;
    first_row_ = tile / o.tiles_across * Tile::rows;
    first_unit_ = tile % o.tiles_across * Tile::units;
    first_box_ = rank_ * o.cluster_boxes;
    int const left = o.boxes - first_box_;
    boxes_ = left < o.cluster_boxes ? (left > 0 ? left : 0) : o.cluster_boxes;
    stages_ = (boxes_ + Tile::stage_boxes - 1) / Tile::stage_boxes;
  }

  __device__ static bool copies() { return int(threadIdx.x) >= Tile::multiplying; }

  /// All threads: prepares the barriers.
  __device__ void begin() {
    if (threadIdx.x == 0) {
      for (int s = 0; s < o_.stages; ++s) {
        bars().full[s].init(1);
        bars().empty[s].init(Tile::multiplying / 32);
      }
      bars().received.init(1);
      publish_barriers();
      if (splits_) bars().received.arrive_expecting(Tile::rows * Tile::columns * int(sizeof(accumulate)));
    }
    __syncthreads();
    if (splits_) arrive_at_cluster();
  }

  /// The copying warp: brings in all stages of this block.
  __device__ void copy() {
    if (threadIdx.x % 32 == 0) copy_stages();
    __syncwarp();
    if (splits_) wait_for_cluster();
  }

  /// The multiplying threads: after it, sum() may be read.
  __device__ void multiply() {
    typename Tile::product product;
    unsigned parity = 0;
#pragma unroll 1
    for (int s = 0, slot = 0; s < stages_; ++s) {
      bars().full[slot].wait(parity);
      std::uint32_t const box = shared_address(stage(slot));
      if (int const boxes = boxes_of(s); Tile::product::unrolls && boxes == Tile::stage_boxes) {
#pragma unroll
        for (int b = 0; b < Tile::stage_boxes; ++b) multiply_box(product, box + b * Tile::box_bytes);
      } else {
#pragma unroll 1
        for (int b = 0; b < boxes; ++b) multiply_box(product, box + b * Tile::box_bytes);
      }
      product.finish_stage();
      if (s + o_.stages < stages_) {
        __syncwarp();
        if (threadIdx.x % 32 == 0) bars().empty[slot].arrive();
      }
      if (++slot == o_.stages) {
        slot = 0;
        parity ^= 1;
      }
    }
    synchronize_multiplying();  // the stages are done with: their place is taken by the sums
    product.store(own_sums(), Tile::pitch);
    synchronize_multiplying();
    if (splits_) {
      wait_for_cluster();  // the neighbours' barriers are there
      send_sums();
      bars().received.wait(0);
    }
  }

  /// The (row, unit) pairs that this block finishes, `pairs()` of them; rows and units of the whole matrix.
  __device__ int pairs() const { return own_rows() * Tile::units; }
  __device__ int row(int pair) const { return first_row_ + (splits_ ? rank_ * own_rows() : 0) + pair / Tile::units; }
  __device__ int unit(int pair) const { return first_unit_ + pair % Tile::units; }
  __device__ bool inside(int pair) const { return pair < pairs() && row(pair) < o_.rows && unit(pair) < o_.hidden; }

  /// The product of a pair's row with the weights of its unit and block.
  __device__ accumulate sum(int pair, int block) const {
    int const at = pair / Tile::units * Tile::pitch + block * Tile::units + pair % Tile::units;
    accumulate sum = 0;
    if (splits_) {
      // 2, 4 or 8 of them; written out, since a loop would be unrolled for every number of them and every gate.
      accumulate const* const from = received_sums() + at;
      int const apart = own_rows() * Tile::pitch;
      sum = from[0] + from[apart];
      if (o_.cluster > 2) sum += from[2 * apart] + from[3 * apart];
      if (o_.cluster > 4) sum += (from[4 * apart] + from[5 * apart]) + (from[6 * apart] + from[7 * apart]);
    } else {
#pragma unroll
      for (int part = 0; part < Tile::product::partial_sums; ++part)
        sum += own_sums()[part * Tile::rows * Tile::pitch + at];
    }
    return sum;
  }

 private:
  __device__ barriers& bars() const { return *reinterpret_cast<barriers*>(base_); }
  __device__ unsigned char* stage(int slot) const { return base_ + Tile::barrier_bytes + slot * Tile::stage_bytes; }
  /// Sums of this block, [partial_sums, Rows, pitch].
  __device__ accumulate* own_sums() const { return reinterpret_cast<accumulate*>(base_ + Tile::barrier_bytes); }
  /// Sums of all blocks of the cluster for the rows of this one, [cluster, own rows, pitch].
  __device__ accumulate* received_sums() const {
    return reinterpret_cast<accumulate*>(base_ + Tile::barrier_bytes + o_.stage_area);
  }
  __device__ int own_rows() const { return 1 << own_shift_; }
  __device__ static void synchronize_multiplying() { synchronize_threads(1, Tile::multiplying); }

  __device__ void copy_stages() {
    prefetch_map(&o_.right);
    prefetch_map(&o_.left);
    int const ahead = stages_ < o_.stages ? stages_ : o_.stages;
    for (int s = 0; s < ahead; ++s) {
      bars().full[s].arrive_expecting(unsigned(boxes_of(s) * Tile::box_bytes));
      copy_weights(s, s);
    }
    wait_for_previous_kernels();
    // The next step's kernel may begin: before it waits it reads only what was written before the first step of the run
    // of steps that it belongs to. Not earlier, or the kernels of several later steps would hold room that the lanes
    // beside need.
    let_next_kernel_begin();
    for (int s = 0; s < ahead; ++s) copy_left(s, s);
    unsigned parity = 0;
    for (int s = ahead, slot = 0; s < stages_; ++s) {
      bars().empty[slot].wait(parity);
      bars().full[slot].arrive_expecting(unsigned(boxes_of(s) * Tile::box_bytes));
      copy_weights(s, slot);
      copy_left(s, slot);
      if (++slot == o_.stages) {
        slot = 0;
        parity ^= 1;
      }
    }
  }

  /// Boxes of a stage; the last may have fewer.
  __device__ int boxes_of(int s) const {
    int const left = boxes_ - s * Tile::stage_boxes;
    return left < Tile::stage_boxes ? left : Tile::stage_boxes;
  }
  __device__ static void multiply_box(typename Tile::product& product, std::uint32_t box) {
    product.multiply(box, box + Tile::rows * 128);
  }

  __device__ void copy_left(int s, int slot) const {
    for (int b = 0; b < boxes_of(s); ++b)
      copy_box(stage(slot) + b * Tile::box_bytes, &o_.left, first_k(s, b), first_row_, &bars().full[slot]);
  }
  __device__ void copy_weights(int s, int slot) const {
    for (int b = 0; b < boxes_of(s); ++b) {
      unsigned char* const to = stage(slot) + b * Tile::box_bytes + Tile::rows * 128;
      if constexpr (Tile::order == weight_rows::along_k) {
        copy_box(to, &o_.right, first_k(s, b), first_unit_, 0, &bars().full[slot]);
      } else {
        constexpr int units = chunks_across<T, Tile::columns> * chunk_elements<T>;
#pragma unroll
        for (int u = 0; u < Tile::columns; u += units)
          copy_box(to + u * box_k<T> * int(sizeof(T)), &o_.right, first_unit_ + u, first_k(s, b), &bars().full[slot]);
      }
    }
  }
  __device__ int first_k(int s, int b) const { return (first_box_ + s * Tile::stage_boxes + b) * box_k<T>; }

  /// Sends this block's sums to the owners of their rows, 16 bytes at a time.
  __device__ void send_sums() const {
    constexpr int vector = 16 / int(sizeof(accumulate));
    constexpr int row_vectors = Tile::columns / vector;
    for (int i = int(threadIdx.x); i < Tile::rows * row_vectors; i += Tile::multiplying) {
      int const row = i / row_vectors, column = i % row_vectors * vector, owner = row >> own_shift_;
      accumulate sums[vector] = {};
#pragma unroll
      for (int part = 0; part < Tile::product::partial_sums; ++part)
#pragma unroll
        for (int j = 0; j < vector; ++j) sums[j] += own_sums()[(part * Tile::rows + row) * Tile::pitch + column + j];
      std::uint32_t words[4];
      memcpy(words, sums, 16);
      send(received_sums() + (rank_ * own_rows() + (row & (own_rows() - 1))) * Tile::pitch + column, words,
           &bars().received, unsigned(owner));
    }
  }

  step_operands const& o_;
  int rank_;
  unsigned char* base_;
  bool splits_;
  int own_shift_;  ///< log2 of the rows that this block finishes
  int first_row_;
  int first_unit_;
  int first_box_;
  int boxes_;
  int stages_;
};

}  // namespace rnnopt::detail

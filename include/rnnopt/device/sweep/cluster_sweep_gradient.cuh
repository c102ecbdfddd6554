#pragma once

#include <cstdint>

#include "rnnopt/device/pointwise_gradient.cuh"
#include "rnnopt/device/sweep/resident_tiles.cuh"

/// The gradient of all steps of a line in one kernel, from the last to the first.
///
/// A block holds the columns of R's transpose that belong to the gates of its units: the same numbers that forward
/// holds. A step: the cells of the block's units turn the gradients of the next states into gate gradients; the block
/// multiplies these with its columns, which gives a share of the gradient of h for all units (the product warps share
/// the units, nothing is shared along k), and sends each share to the block whose units they are. That one adds up the
/// shares of all blocks. Cost of a step and slot: the exchange of rows * hidden sums for each block of the cluster,
/// about as long as in forward times the ratio of the sizes of a sum and a stored number, and a product as large as
/// forward's.

namespace rnnopt::detail {

template <class Cell, class Precision>
struct cluster_sweep_gradient_arguments {
  pointwise_gradient_arguments<Cell, Precision> cell;  ///< of the step processed first
  typename Precision::storage const* recurrent;        ///< R [recurrent_gates, hidden, hidden]
  typename Precision::storage const* following;        ///< gate gradients of the step after, [batch, recurrent_gates,
                                                       ///< hidden], or null at the end of the line
  cluster_team team;
  std::int32_t steps;
  std::int64_t step_rows;  ///< rows from a step to the one processed after it: -batch, or batch where the line runs
                           ///< backward in time
};

template <class Cell, class Precision, class Variant>
class cluster_sweep_gradient : team_block {
  using traits = cell_traits<Cell>;
  using gates = typename traits::gates;
  using storage = typename Precision::storage;
  using accumulate = typename Precision::accumulate;
  using state = typename Precision::state;
  using arguments = cluster_sweep_gradient_arguments<Cell, Precision>;
  static constexpr int n_tiles = Variant::n_tiles;
  static constexpr int kept_groups = Variant::kept_groups, kept_pairs = Variant::kept_pairs;

  /// A packet: shares of the gradients of two units of two rows.
  struct alignas(16) shares {
    accumulate values[4];
  };

  /// What the gradient of a cell reads, as it lies in memory: converted only when it is used, so that nothing waits.
  struct operands {
    storage saved[traits::gate_count];
    storage h_before, dy;
    state before[traits::states > 1 ? traits::states - 1 : 1];
  };

 public:
  __device__ cluster_sweep_gradient(arguments const& a, unsigned char* shared)
      : team_block(a.team, shared), a_(a), group_warps_(cell_warps / a.team.slots) {
    group_ = (me_.warp - product_warps) / group_warps_;
  }

  /// All threads: barriers, constants and the gate gradients of the step after. The buffers have the shares of the
  /// gradient of h for this block's units, [cluster, units / 16, n_tiles, 32 packets].
  __device__ void prepare() {
    if (threadIdx.x == 0) prepare_barriers([&](int slot, int parity) { expect(slot, parity); });
    for (int i = int(threadIdx.x) * 4; i < t_.slots * 2 * Variant::rows * t_.pitch; i += team_threads * 4)
      *reinterpret_cast<std::uint32_t*>(operand(0, 0) + i) = 0;
    for (int i = int(threadIdx.x); i < traits::unit_parameters * t_.units; i += team_threads) {
      int const unit = first_unit() + i % t_.units;
      constants()[i] = unit < t_.hidden ? accumulate(a_.cell.units[i / t_.units * t_.hidden + unit]) : accumulate(0);
    }
    if (a_.following != nullptr) {
      __syncthreads();  // the zeros are there
      for (int slot = 0; slot < me_.slots; ++slot) load_following(slot);
    }
    __syncthreads();
  }

  /// What the first warps do: the shares of one slot after the other.
  __device__ void run_products() {
    load_recurrent();
    synchronize_cluster();  // barriers and buffers of all blocks are ready, the stages free
    if (me_.warp >= tile_groups()) return;
    if (a_.following != nullptr)
      for (int slot = 0; slot < me_.slots; ++slot) multiply(slot, 1, 0);
    int const threads[] = {threads_of(0), threads_of(1)};
    for (int i = 0; i + 1 < a_.steps; ++i)
#pragma unroll 1
      for (int slot = 0; slot < me_.slots; ++slot) {
        synchronize_threads(barrier_of(slot, i), slot == 0 ? threads[0] : threads[1]);
        multiply(slot, i & 1, (i + 1) & 1);
      }
  }
  /// What the others do: the cells of one slot.
  __device__ void run_cells() {
    place_cells();
    synchronize_cluster();
    if (group_ >= me_.slots || (me_.warp - product_warps) % group_warps_ >= active_warps(group_)) return;
#pragma unroll
    for (int c = 0; c < Variant::cells; ++c)
      if (inside(c)) {
#pragma unroll
        for (int s = 0; s < traits::states; ++s) carried_[c][s] = a_.cell.state_gradients[s * plane() + at(c)];
#pragma unroll
        for (int u = 0; u < traits::unit_parameters; ++u)
          unit_sums_[c][u] = a_.cell.first ? accumulate(0) : a_.cell.unit_gradients[u * plane() + at(c)];
        load(c, 0);
      }
    for (int i = 0; i < a_.steps; ++i) run_cells(group_, i);
    finish();
  }

 private:
  /// Gate gradients of this block's units, rows of the batch `pitch` bytes apart.
  __device__ unsigned char* operand(int slot, int parity) const {
    return shared_ + t_.handed_at + (2 * slot + parity) * Variant::rows * t_.pitch;
  }
  __device__ accumulate* constants() const { return reinterpret_cast<accumulate*>(shared_ + t_.constants_at); }
  __device__ int unit_tiles() const { return t_.units / fragment_rows; }

  /// A warp's cells are 16 units of two rows; of the four groups of eight lanes each has eight of them.
  __device__ int job(int c) const { return (me_.warp - product_warps) % group_warps_ + c * group_warps_; }
  __device__ bool has_job(int c) const { return job(c) < unit_tiles() * 4 * n_tiles; }
  __device__ int unit_tile(int c) const { return unknown(tile_and_pair_[c]) & 0xffff; }
  __device__ int row_pair(int c) const { return unknown(tile_and_pair_[c]) >> 16; }
  __device__ int quarter() const { return unknown(me_.lane) / 8; }
  __device__ int cell_unit(int c) const { return unit_tile(c) * fragment_rows + me_.lane % 8 + quarter() / 2 * 8; }
  __device__ int cell_row(int c) const { return row_pair(c) * 2 + quarter() % 2; }
  __device__ bool inside(int c) const { return inside_ >> c & 1; }
  __device__ std::int64_t batch_row(int c) const { return me_.first_row + group_ * t_.slot_rows + cell_row(c); }
  __device__ std::int64_t at(int c) const { return batch_row(c) * t_.hidden + first_unit() + cell_unit(c); }
  __device__ std::int64_t plane() const { return std::int64_t(t_.batch) * t_.hidden; }

  __device__ void place_cells() {
#pragma unroll
    for (int c = 0; c < Variant::cells; ++c) {
      tile_and_pair_[c] = job(c) % unit_tiles() | job(c) / unit_tiles() << 16;
      bool const there = has_job(c) && cell_row(c) < me_.rows_of(t_, group_) && first_unit() + cell_unit(c) < t_.hidden;
      inside_ |= int(there) << c;
    }
  }

  /// Steps take turns with two barriers: a warp that multiplies may lag one step behind those that run cells, but no
  /// more, since its own share is among those that some block waits for.
  __device__ static int barrier_of(int slot, int i) { return 1 + 2 * slot + (i & 1); }
  /// Threads that meet there: the warps with tiles and those with cells.
  __device__ int threads_of(int slot) const {
    return 32 * ((tile_groups() < product_warps ? tile_groups() : product_warps) + active_warps(slot));
  }
  __device__ int active_warps(int slot) const {
    int const jobs = (me_.rows_of(t_, slot) + 1) / 2 * unit_tiles();
    return jobs < group_warps_ ? jobs : group_warps_;
  }

  /// A warp has the groups of tiles of its number and every 8th after it, the first two of them in registers as far as
  /// they fit.
  __device__ void load_recurrent() {
    auto const fetch = [&](int unit_tile, int k_tile, std::uint32_t(&words)[4]) {
      fetch_recurrent(unit_tile, k_tile, words);
    };
    unsigned char* const stage = shared_ + t_.buffers_at + me_.warp * 4 * tile_bytes;
#pragma unroll
    for (int i = 0; i < kept_groups; ++i) {
      int const g = me_.warp + i * product_warps;
      tiles_[i] = resident_tiles<storage, kept_pairs>(g < tile_groups() ? t_.pairs : 0, kept_tiles_at(i));
      tiles_[i].load_registers(fetch, 2 * g, 0, stage);
      tiles_[i].load_shared(fetch, 2 * g, 0);
    }
    for (int g = me_.warp + kept_groups * product_warps; g < tile_groups(); g += product_warps)
      further_tiles(g).load_shared(fetch, 2 * g, 0);
  }

  /// This lane's words of a tile of the transpose of this block's rows of R; along k a tile is of one gate.
  __device__ void fetch_recurrent(int unit_tile, int k_tile, std::uint32_t (&words)[4]) const {
    constexpr int word_elements = 4 / int(sizeof(storage));
    int const first = k_tile * 8 * word_elements, gate = first / t_.units;
    int const from = first_unit() + first % t_.units, unit = unit_tile * fragment_rows + me_.lane / 4;
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      int const k = from + (me_.lane % 4 + w / 2 * 4) * word_elements, to = unit + w % 2 * 8;
      storage elements[word_elements];
#pragma unroll
      for (int i = 0; i < word_elements; ++i)
        elements[i] = gate < gates::recurrent_count && to < t_.hidden && k + i < t_.hidden
                          ? a_.recurrent[(std::int64_t(gate) * t_.hidden + k + i) * t_.hidden + to]
                          : storage(0);
      memcpy(&words[w], elements, 4);
    }
  }

  /// Groups of two tiles of units, of the whole team.
  __device__ int tile_groups() const { return t_.cluster * t_.units / (2 * fragment_rows); }
  /// Where those pairs of a group lie that are not in registers.
  __device__ int spilled_pairs() const { return t_.pairs > kept_pairs ? t_.pairs - kept_pairs : 0; }
  __device__ unsigned char* kept_tiles_at(int i) const {
    return shared_ + t_.tiles_at + (i * product_warps + me_.warp) * spilled_pairs() * 4 * tile_bytes;
  }
  __device__ resident_tiles<storage, 0> further_tiles(int g) const {
    int const kept = kept_groups * product_warps;
    return resident_tiles<storage, 0>(
        t_.pairs, shared_ + t_.tiles_at + (kept * spilled_pairs() + (g - kept) * t_.pairs) * 4 * tile_bytes);
  }

  __device__ void load_following(int slot) {
    int const columns = gates::recurrent_count * t_.units;
    for (int row = me_.warp; row < me_.rows_of(t_, slot); row += team_threads / 32) {
      auto* const to = reinterpret_cast<storage*>(operand(slot, 1) + row * t_.pitch);
      std::int64_t const from = me_.first_row + slot * t_.slot_rows + row;
      for (int k = me_.lane; k < columns; k += 32) {
        int const unit = first_unit() + k % t_.units;
        if (unit < t_.hidden) to[k] = a_.following[(from * gates::recurrent_count + k / t_.units) * t_.hidden + unit];
      }
    }
  }

  /// Packets of a tile of 8 rows that have rows in them.
  __device__ int packets(int slot, int n) const {
    int const left = me_.rows_of(t_, slot) - 8 * n;
    return left <= 0 ? 0 : left >= 8 ? 4 : (left + 1) / 2;
  }
  __device__ void expect(int slot, int parity) {
    int all = 0;
    for (int n = 0; n < n_tiles; ++n) all += packets(slot, n);
    bars().full[slot][parity].arrive_expecting(unsigned(all * t_.cluster * unit_tiles() * 8 * 16));
  }

  /// Multiplies the gate gradients of a slot with this block's columns and sends the shares to their owners.
  __device__ void multiply(int slot, int from, int to) {
    std::uint32_t const right = shared_address(operand(slot, from));
#pragma unroll
    for (int i = 0; i < kept_groups; ++i) {
      int const g = me_.warp + i * product_warps;
      if (g >= tile_groups()) continue;
      accumulate products[1][2][n_tiles][4] = {};
      tiles_[i].multiply(products, right, t_.pitch);
      send_shares(products, g, slot, to);
    }
#pragma unroll 1
    for (int g = me_.warp + kept_groups * product_warps; g < tile_groups(); g += product_warps) {
      accumulate products[1][2][n_tiles][4] = {};
      further_tiles(g).multiply(products, right, t_.pitch);
      send_shares(products, g, slot, to);
    }
  }

  __device__ void send_shares(accumulate const (&products)[1][2][n_tiles][4], int group, int slot, int parity) {
    int const lane = unknown(me_.lane);
#pragma unroll
    for (int m = 0; m < 2; ++m) {
      int const tile = unknown(2 * group + m), owner = tile * t_.tiles_to_blocks >> 16;
#pragma unroll
      for (int n = 0; n < n_tiles; ++n) {
        if (lane % 4 >= packets(slot, n)) continue;
        std::uint32_t words[4];
        memcpy(words, products[0][m][n], sizeof words);
        send(packet(slot, parity, me_.rank, tile - owner * unit_tiles(), n, lane % 4, lane / 4), words,
             &bars().full[slot][parity], unsigned(owner));
      }
    }
  }
  /// The packet of units (unit, unit + 8) of a tile and rows (2 pair, 2 pair + 1) of a tile of rows.
  __device__ unsigned char* packet(int slot, int parity, int from, int unit_tile, int n, int pair, int unit) const {
    return buffer(slot, parity) + (((from * unit_tiles() + unit_tile) * n_tiles + n) * 32 + pair * 8 + unit) * 16;
  }

  __device__ void run_cells(int slot, int i) {
    bool const through_r = i > 0 || a_.following != nullptr;
    int const parity = i & 1;
    if (through_r) {
      // Where nothing follows the first step, the first buffer is first filled for the third one.
      int const use = i / 2 - (a_.following == nullptr && parity == 0 ? 1 : 0);
      bars().full[slot][parity].wait(unsigned(use & 1));
      if (threadIdx.x % (group_warps_ * 32) == 0) expect(slot, parity);
    }
    storage rounded[Variant::cells][traits::gate_count];
#pragma unroll
    for (int c = 0; c < Variant::cells; ++c) {
      if (!has_job(c)) continue;
      accumulate const share = through_r ? add_shares(slot, parity, c) : accumulate(0);
      if (!inside(c)) continue;
      unit_inputs<Cell, accumulate> in;
#pragma unroll
      for (int g = 0; g < traits::gate_count; ++g) in.gates[g] = accumulate(operands_[c].saved[g]);
      in.states[0] = accumulate(operands_[c].h_before);
#pragma unroll
      for (int s = 1; s < traits::states; ++s) in.states[s] = accumulate(operands_[c].before[s - 1]);
#pragma unroll
      for (int u = 0; u < traits::unit_parameters; ++u) in.units[u] = constants()[u * t_.units + cell_unit(c)];
      carried_[c][0] += share;
      carried_[c][0] += accumulate(operands_[c].dy);
      unit_gradients<Cell, accumulate> out;
      device_backward<Cell, accumulate>(in, carried_[c], out);
      auto* const to = reinterpret_cast<storage*>(operand(slot, i & 1) + cell_row(c) * t_.pitch) + cell_unit(c);
      for_each_index<traits::gate_count>([&](auto g) {
        constexpr int recurrent = gates::recurrent_block(int(g.value));
        rounded[c][g.value] = static_cast<storage>(out.gates[g.value]);
        if constexpr (recurrent >= 0) to[recurrent * t_.units] = rounded[c][g.value];
      });
#pragma unroll
      for (int s = 0; s < traits::states; ++s) carried_[c][s] = out.states[s];
#pragma unroll
      for (int u = 0; u < traits::unit_parameters; ++u) unit_sums_[c][u] += out.units[u];
    }
    // The product waits for them; everything else comes after it.
    if (i + 1 < a_.steps) arrive_for_threads(barrier_of(slot, i), threads_of(slot));
#pragma unroll
    for (int c = 0; c < Variant::cells; ++c) {
      if (!inside(c)) continue;
      store(rounded[c], c, i);
      if (i + 1 < a_.steps) load(c, i + 1);
    }
  }

  /// The gradient of h of this thread's cell: every quarter of the warp adds up the packets of every fourth block, then
  /// they exchange what belongs to the others' cells.
  __device__ accumulate add_shares(int slot, int parity, int c) const {
    accumulate sum[4] = {};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      int const from = quarter() + 4 * i;
      if (from >= t_.cluster) continue;
      auto const share = *reinterpret_cast<shares const*>(
          packet(slot, parity, from, unit_tile(c), row_pair(c) / 4, row_pair(c) % 4, me_.lane % 8));
#pragma unroll
      for (int j = 0; j < 4; ++j) sum[j] += share.values[j];
    }
    bool const upper = quarter() / 2 == 1, odd = quarter() % 2 == 1;
    accumulate pair[2];
#pragma unroll
    for (int j = 0; j < 2; ++j)
      pair[j] = (upper ? sum[2 + j] : sum[j]) + __shfl_xor_sync(~0u, upper ? sum[j] : sum[2 + j], 16);
    return (odd ? pair[1] : pair[0]) + __shfl_xor_sync(~0u, odd ? pair[0] : pair[1], 8);
  }

  __device__ void load(int c, int i) {
    std::int64_t const hidden = t_.hidden, unit = first_unit() + cell_unit(c);
    std::int64_t const row = unknown(i * a_.step_rows + batch_row(c));
#pragma unroll
    for (int g = 0; g < traits::gate_count; ++g)
      operands_[c].saved[g] = a_.cell.saved[(row * traits::gate_count + g) * hidden + unit];
    operands_[c].h_before = a_.cell.h_before[row * hidden + unit];
    operands_[c].dy = a_.cell.dy != nullptr ? a_.cell.dy[row * a_.cell.dy_row + unit] : storage(0);
#pragma unroll
    for (int s = 1; s < traits::states; ++s) operands_[c].before[s - 1] = a_.cell.before[s - 1][row * hidden + unit];
  }

  __device__ void store(storage const (&rounded)[traits::gate_count], int c, int i) const {
    std::int64_t const hidden = t_.hidden, unit = first_unit() + cell_unit(c);
    std::int64_t const row = unknown(i * a_.step_rows + batch_row(c));
    for_each_index<traits::gate_count>([&](auto g) {
      constexpr int input = gates::input_block(int(g.value)), recurrent = gates::recurrent_block(int(g.value));
      if constexpr (input >= 0)
        a_.cell.input_gate_gradients[(row * gates::input_count + input) * hidden + unit] = rounded[g.value];
      if constexpr (!gates::same_rows && recurrent >= 0)
        a_.cell.recurrent_gate_gradients[(row * gates::recurrent_count + recurrent) * hidden + unit] = rounded[g.value];
    });
  }

  /// What is left to the steps before, or to the initial states.
  __device__ void finish() const {
#pragma unroll
    for (int c = 0; c < Variant::cells; ++c)
      if (inside(c)) {
#pragma unroll
        for (int s = 0; s < traits::states; ++s) a_.cell.state_gradients[s * plane() + at(c)] = carried_[c][s];
#pragma unroll
        for (int u = 0; u < traits::unit_parameters; ++u)
          a_.cell.unit_gradients[u * plane() + at(c)] = unit_sums_[c][u];
      }
  }

  arguments const& a_;
  int group_warps_;                    ///< warps that run the cells of a slot
  int group_;                          ///< the slot whose cells this warp runs
  int inside_ = 0;                     ///< bit c: a thread's cell is one
  int tile_and_pair_[Variant::cells];  ///< of a thread's cells: tile of units, and which two rows, from bit 16
  resident_tiles<storage, kept_pairs> tiles_[kept_groups];
  operands operands_[Variant::cells];
  accumulate carried_[Variant::cells][traits::states];  ///< gradients of the states that the next step passes back
  accumulate unit_sums_[Variant::cells][traits::unit_parameters > 0 ? traits::unit_parameters : 1];
};

template <class Cell, class Precision, class Variant>
__global__ void __launch_bounds__(team_threads, 1)
    cluster_sweep_gradient_kernel(cluster_sweep_gradient_arguments<Cell, Precision> const __grid_constant__ a) {
  extern __shared__ __align__(128) unsigned char sweep_shared[];
  run_team<Variant>(cluster_sweep_gradient<Cell, Precision, Variant>(a, sweep_shared));
}

}  // namespace rnnopt::detail

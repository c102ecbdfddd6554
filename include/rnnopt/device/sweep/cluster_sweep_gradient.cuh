#pragma once

#include <cstdint>

#include "rnnopt/device/pointwise_gradient.cuh"
#include "rnnopt/device/sweep/resident_tiles.cuh"

/// The gradient of all steps of a line in one kernel, from the last to the first.
///
/// A block holds the columns of R's transpose that belong to the gates of its units: the same numbers that forward
/// holds. A step: the cells of the block's units turn the gradients of the next states into gate gradients; the block
/// multiplies these with its columns, which gives a share of the gradient of h for all units (warps share the units,
/// nothing is shared along k), and sends each share to the block whose units they are. That one adds up the shares of
/// all blocks. Cost of a step: a product as large as forward's, the exchange of rows * hidden sums for each block of
/// the cluster, and the cells, of which only a sum is left to do when the shares have come: see differentiate.

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

/// How a block cuts its part of the transpose of R and lays out its shared memory: a warp has 32 of all units, along k
/// the gates of the block.
template <class Cell, class Precision, class Shape>
struct cluster_sweep_gradient_layout {
  using storage = typename Precision::storage;
  using accumulate = typename Precision::accumulate;
  static constexpr int m_tiles = 2;
  static constexpr int pairs =
      (Cell::gates::recurrent_count * Shape::units * int(sizeof(storage)) + pair_bytes - 1) / pair_bytes;
  static constexpr int kept_pairs = pairs_in_registers(pairs, m_tiles);
  using tiles = resident_tiles<storage, m_tiles, kept_pairs>;
  using further_tiles = resident_tiles<storage, m_tiles, 0>;
  static constexpr int groups = Shape::width / (m_tiles * fragment_rows);  ///< of 32 units
  static constexpr int in_registers = groups < team_warps ? groups : team_warps;
  static constexpr int pair_tiles_bytes = m_tiles * 2 * tile_bytes;
  static constexpr int spilled_bytes = (pairs - kept_pairs) * pair_tiles_bytes;  ///< of a group that registers hold
  static constexpr int pitch = operand_pitch(pairs * pair_bytes);
  static constexpr int operand = Shape::room * pitch;
  /// Shares of the gradient of h for a block's units, [cluster, units / 16, room / 8, 32 packets of 16 bytes].
  static constexpr int packet_bytes = 16;
  static constexpr int of_8_rows = 32 * packet_bytes;
  static constexpr int of_units = Shape::room / operand_rows * of_8_rows;
  static constexpr int of_block = Shape::unit_tiles * of_units;
  static constexpr int received = Shape::cluster * of_block;

  static constexpr int handed_bytes = aligned_bytes(2 * operand);
  static constexpr int constants_bytes =
      aligned_bytes(cell_traits<Cell>::unit_parameters * Shape::units * int(sizeof(accumulate)));
  static constexpr int tiles_bytes = in_registers * spilled_bytes + (groups - in_registers) * pairs * pair_tiles_bytes;
  static constexpr int stage_bytes = in_registers * tiles::kept_bytes;
};

template <class Cell, class Precision, class Shape>
class cluster_sweep_gradient : team_block<Shape, cluster_sweep_gradient_layout<Cell, Precision, Shape>> {
  using layout = cluster_sweep_gradient_layout<Cell, Precision, Shape>;
  using base = team_block<Shape, layout>;
  using traits = cell_traits<Cell>;
  using gates = typename traits::gates;
  using storage = typename Precision::storage;
  using accumulate = typename Precision::accumulate;
  using state = typename Precision::state;
  using arguments = cluster_sweep_gradient_arguments<Cell, Precision>;
  static constexpr int m_tiles = layout::m_tiles;
  static constexpr int turns = 2;  ///< sums that a warp adds to in turn, see resident_tiles
  using base::buffers_at;
  using base::constants;
  using base::first_row_;
  using base::first_unit;
  using base::full;
  using base::handed_at;
  using base::lane_;
  using base::rank_;
  using base::rows_;
  using base::shared_;
  using base::t_;
  using base::tiles_at;
  using base::warp_;

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
  using base::shared_bytes;

  __device__ cluster_sweep_gradient(arguments const& a, unsigned char* shared) : base(a.team, shared), a_(a) {}

  __device__ void run() {
    load_recurrent();
    prepare();
    place_cells();
    synchronize_cluster();  // barriers and buffers of all blocks are ready
    bool const follows = a_.following != nullptr;
    if (follows) multiply(1, 0);  // operand 1 has the gate gradients of the step after
    std::int64_t row = first_row_ + row_;
    std::int64_t const first = row * t_.hidden + column();
#pragma unroll
    for (int s = 0; s < traits::states; ++s)
      carried_[s] = arrived(inside_ ? a_.cell.state_gradients[s * plane() + first] : accumulate(0));
#pragma unroll
    for (int u = 0; u < traits::unit_parameters; ++u)
      unit_sums_[u] = arrived(inside_ && !a_.cell.first ? a_.cell.unit_gradients[u * plane() + first] : accumulate(0));
    operands_ = operands{};
    if (inside_) load(row);
    for (int i = 0; i < a_.steps; ++i) {
      int const parity = i & 1;
      bool const last = i + 1 == a_.steps, through_r = i > 0 || follows;
      if (has_cells_) run_cell(parity, i, row);
      __syncthreads();
      if (!last) multiply(parity, parity ^ 1);
      store_gates(parity, i);
      // Packets of the next phase may be here already: it cannot end before this arrival, and all have left the last
      // one.
      if (through_r && threadIdx.x == 0) expect(parity);
      row += a_.step_rows;
    }
    // What is left to the steps before, or to the initial states.
    if (inside_) {
#pragma unroll
      for (int s = 0; s < traits::states; ++s) a_.cell.state_gradients[s * plane() + first] = carried_[s];
#pragma unroll
      for (int u = 0; u < traits::unit_parameters; ++u) a_.cell.unit_gradients[u * plane() + first] = unit_sums_[u];
    }
    synchronize_cluster();  // no block ends while another may still send to it
  }

 private:
  /// All threads: barriers, constants and the gate gradients of the step after.
  __device__ void prepare() {
    if (threadIdx.x == 0) this->prepare_barriers([&](int parity) { expect(parity); });
    for (int i = int(threadIdx.x) * 4; i < 2 * layout::operand; i += team_threads * 4)
      *reinterpret_cast<std::uint32_t*>(operand(0) + i) = 0;
    for (int i = int(threadIdx.x); i < traits::unit_parameters * Shape::units; i += team_threads) {
      int const unit = first_unit() + i % Shape::units;
      constants()[i] =
          unit < t_.hidden ? accumulate(a_.cell.units[i / Shape::units * t_.hidden + unit]) : accumulate(0);
    }
    if (a_.following != nullptr) {
      __syncthreads();  // the zeros are there
      load_following();
    }
    __syncthreads();
  }

  /// Gate gradients of this block's units, rows of the batch `pitch` bytes apart.
  __device__ unsigned char* operand(int parity) const { return shared_ + handed_at + parity * layout::operand; }

  __device__ std::int64_t plane() const { return std::int64_t(t_.batch) * t_.hidden; }
  /// This thread's unit among all.
  __device__ int column() const { return rank_ * Shape::units + unit_; }

  /// A thread has one cell; a warp's are 16 units of two rows; of the four groups of eight lanes each has eight of
  /// them.
  __device__ void place_cells() {
    int const quarter = lane_ / 8, unit_tile = warp_ % Shape::unit_tiles, pair = warp_ / Shape::unit_tiles;
    unit_ = unit_tile * fragment_rows + lane_ % 8 + quarter / 2 * 8;
    row_ = 2 * pair + quarter % 2;
    rows_left_ = unknown(rows_ - lane_ % 4 * 2);
    has_cells_ = 2 * pair < rows_;
    inside_ = row_ < rows_ && column() < t_.hidden;
    shares_at_ = buffers_at + quarter * layout::of_block + unit_tile * layout::of_units +
                 (pair * 8 + lane_ % 8) * layout::packet_bytes;
    gates_at_ = handed_at + row_ * layout::pitch + unit_ * int(sizeof(storage));
    operand_ = shared_address(shared_) + unsigned(handed_at + lane_ % 4 * 16 + lane_ / 4 * layout::pitch);
    for (int m = 0; m < m_tiles; ++m) place_shares(warp_, m, peer_[m], packet_at_[m]);
  }

  /// A warp has the groups of tiles of its number and every 16th after it, the first in registers as far as it fits.
  __device__ void load_recurrent() {
    unsigned char* const at = shared_ + tiles_at;
    if (warp_ < layout::groups) {
      tiles_ = typename layout::tiles(layout::pairs, at + warp_ * layout::spilled_bytes);
      tiles_.load_registers(fetch_of(warp_), 0, shared_ + buffers_at + warp_ * layout::tiles::kept_bytes);
    }
    __syncthreads();  // all have read what comes through there
    if (warp_ < layout::groups) tiles_.load_shared(fetch_of(warp_), 0);
    for (int i = warp_ + team_warps; i < layout::groups; i += team_warps) further_tiles(i).load_shared(fetch_of(i), 0);
    __syncwarp();
  }
  /// Each block begins with groups of another block's units, so that not all send to the same one.
  __device__ int group_number(int i) const {
    return int(unsigned(i + rank_ * layout::groups / Shape::cluster) % unsigned(layout::groups));
  }
  __device__ auto fetch_of(int i) const {
    return [this, first = 2 * group_number(i)](int m, int pair, std::uint32_t(&lower)[4], std::uint32_t(&upper)[4]) {
      int const k = (pair * pair_bytes + lane_ % 4 * 16) / int(sizeof(storage));
      int const unit = (first + m) * fragment_rows + lane_ / 4;
      fetch_column(unit, k, lower);
      fetch_column(unit + 8, k, upper);
    };
  }
  /// 16 bytes of a row of the transpose of this block's rows of R: k counts the units of one gate after the other.
  __device__ void fetch_column(int to, int k, std::uint32_t (&words)[4]) const {
    constexpr int elements = 16 / int(sizeof(storage));
    int const gate = k / Shape::units, from = first_unit() + k % Shape::units;
    storage column[elements];
#pragma unroll
    for (int i = 0; i < elements; ++i)
      column[i] = gate < gates::recurrent_count && to < t_.hidden && from + i < t_.hidden
                      ? a_.recurrent[(std::int64_t(gate) * t_.hidden + from + i) * t_.hidden + to]
                      : storage(0);
    memcpy(words, column, 16);
  }

  __device__ typename layout::further_tiles further_tiles(int i) const {
    return typename layout::further_tiles(layout::pairs,
                                          shared_ + tiles_at + layout::in_registers * layout::spilled_bytes +
                                              (i - team_warps) * layout::pairs * layout::pair_tiles_bytes);
  }

  __device__ void load_following() {
    int const columns = gates::recurrent_count * Shape::units;
    for (int row = warp_; row < rows_; row += team_warps) {
      auto* const to = reinterpret_cast<storage*>(operand(1) + row * layout::pitch);
      std::int64_t const from = first_row_ + row;
      for (int k = lane_; k < columns; k += 32) {
        int const unit = first_unit() + k % Shape::units;
        if (unit < t_.hidden)
          to[k] = a_.following[(from * gates::recurrent_count + k / Shape::units) * t_.hidden + unit];
      }
    }
  }

  /// Packets come for pairs of rows.
  __device__ void expect(int parity) const {
    full(parity).arrive_expecting(
        unsigned((rows_ + 1) / 2 * Shape::cluster * Shape::unit_tiles * 8 * layout::packet_bytes));
  }

  /// Multiplies the gate gradients with this block's columns and sends the shares to their owners.
  __device__ void multiply(int from, int to) const {
    std::uint32_t operand = operand_ + unsigned(from * layout::operand);
    std::uint32_t const barrier = unsigned(to * int(sizeof(shared_barrier)));
    std::uint32_t offset = unsigned(to * layout::received);
    int left = rows_left_;
#pragma unroll 1
    for (int n = 0; n < Shape::room / operand_rows; ++n) {
      if (n > 0 && n * operand_rows >= rows_) break;
      if (layout::groups >= team_warps || warp_ < layout::groups) {
        accumulate sums[turns][m_tiles][4] = {};
        tiles_.template multiply<turns>(sums, operand);
        if (left > 0)
#pragma unroll
          for (int m = 0; m < m_tiles; ++m) send_share(sums, m, peer_[m], packet_at_[m] + offset, barrier);
      }
#pragma unroll 1
      for (int i = warp_ + team_warps; i < layout::groups; i += team_warps) {
        accumulate sums[turns][m_tiles][4] = {};
        further_tiles(i).template multiply<turns>(sums, operand);
        if (left > 0)
#pragma unroll
          for (int m = 0; m < m_tiles; ++m) {
            std::uint32_t peer, packet_at;
            place_shares(i, m, peer, packet_at);
            send_share(sums, m, peer, packet_at + offset, barrier);
          }
      }
      operand += unsigned(operand_rows * layout::pitch);
      offset += layout::of_8_rows;
      left -= operand_rows;
    }
  }

  /// The owner of this lane's units of a tile: where its shared memory begins, and there the packet of units (unit,
  /// unit + 8) and two rows, for parity 0 and the first 8 rows.
  __device__ void place_shares(int i, int m, std::uint32_t& peer, std::uint32_t& packet_at) const {
    int const tile = m_tiles * group_number(i) + m;
    peer = address_in_cluster(shared_address(shared_), unsigned(tile / Shape::unit_tiles));
    packet_at = unsigned(buffers_at + rank_ * layout::of_block + tile % Shape::unit_tiles * layout::of_units +
                         (lane_ % 4 * 8 + lane_ / 4) * layout::packet_bytes);
  }
  __device__ static void send_share(accumulate const (&sums)[turns][m_tiles][4], int m, std::uint32_t peer,
                                    std::uint32_t packet_at, std::uint32_t barrier) {
    accumulate values[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      values[j] = sums[0][m][j];
#pragma unroll
      for (int turn = 1; turn < turns; ++turn) values[j] += sums[turn][m][j];
    }
    std::uint32_t words[4];
    memcpy(words, values, sizeof words);
    send(peer + packet_at, words, peer + barrier);
  }

  /// Where the gate gradients of this thread's cell go: those of each recurrent gate a row of units.
  __device__ storage* gates_of(int parity) const {
    return reinterpret_cast<storage*>(shared_ + gates_at_ + parity * layout::operand);
  }

  /// Gate gradients of the step: what the product of the block waits for. What the next step reads is asked for as soon
  /// as this one has taken its own. Lanes without a cell take part with zeros.
  __device__ void run_cell(int parity, int i, std::int64_t row) {
    bool const follows = a_.following != nullptr, through_r = i > 0 || follows;
    unit_gradients<Cell, accumulate> of_state[traits::states];
    differentiate(of_state);
    if (inside_ && i + 1 < a_.steps) load(row + a_.step_rows);
    if (through_r) {
      // Where nothing follows the first step, the first buffer is first filled for the third one.
      full(parity).wait(unsigned((i / 2 - (!follows && parity == 0 ? 1 : 0)) & 1));
      carried_[0] += add_shares(parity);
    }
    storage* const to = gates_of(parity);
    for_each_index<traits::gate_count>([&](auto g) {
      constexpr int input = gates::input_block(int(g.value)), recurrent = gates::recurrent_block(int(g.value));
      accumulate sum = carried_[0] * of_state[0].gates[g.value];
#pragma unroll
      for (int s = 1; s < traits::states; ++s) sum += carried_[s] * of_state[s].gates[g.value];
      storage const rounded = static_cast<storage>(sum);
      if (inside_) {
        if constexpr (recurrent >= 0) to[recurrent * Shape::units] = rounded;
        else a_.cell.input_gate_gradients[(row * gates::input_count + input) * t_.hidden + column()] = rounded;
      }
    });
    accumulate passed[traits::states] = {};
#pragma unroll
    for (int s = 0; s < traits::states; ++s) {
#pragma unroll
      for (int before = 0; before < traits::states; ++before)
        passed[before] += carried_[s] * of_state[s].states[before];
#pragma unroll
      for (int u = 0; u < traits::unit_parameters; ++u) unit_sums_[u] += carried_[s] * of_state[s].units[u];
    }
#pragma unroll
    for (int s = 0; s < traits::states; ++s) carried_[s] = passed[s];
  }

  /// Gate gradients of a step go to memory 16 bytes at a time, through the threads from the last one on, since the
  /// first ones run cells.
  __device__ void store_gates(int parity, int step) const {
    constexpr int elements = 16 / int(sizeof(storage)), lines = Shape::units / elements;
    int const all = rows_ * gates::recurrent_count * lines;
    for (int i = team_threads - 1 - int(threadIdx.x); i < all; i += team_threads) {
      int const line = i % lines, recurrent = i / lines % gates::recurrent_count,
                row = i / (lines * gates::recurrent_count), unit = first_unit() + line * elements;
      if (unit >= t_.hidden) continue;
      unsigned char const* const from = operand(parity) + row * layout::pitch + (recurrent * lines + line) * 16;
      std::int64_t const r = first_row_ + row + step * a_.step_rows, hidden = t_.hidden;
      if (!gates::same_rows)
        store_line(a_.cell.recurrent_gate_gradients + (r * gates::recurrent_count + recurrent) * hidden + unit, from,
                   unit);
      if (int const input = input_of(recurrent); input >= 0)
        store_line(a_.cell.input_gate_gradients + (r * gates::input_count + input) * hidden + unit, from, unit);
    }
  }
  /// Writes 16 bytes of a row of units to memory, of which those at and after `unit` may lie beyond the last real one.
  template <class T>
  __device__ void store_line(T* to, unsigned char const* from, int unit) const {
    constexpr int elements = 16 / int(sizeof(T));
    auto const words = *reinterpret_cast<uint4 const*>(from);
    if (unit + elements <= t_.hidden && reinterpret_cast<std::uintptr_t>(to) % 16 == 0) {
      *reinterpret_cast<uint4*>(to) = words;
      return;
    }
    T line[elements];
    memcpy(line, &words, 16);
#pragma unroll
    for (int i = 0; i < elements; ++i)
      if (unit + i < t_.hidden) to[i] = line[i];
  }
  /// The block of W of the gate that has a block of R, or -1.
  __device__ static int input_of(int recurrent) {
    int found = -1;
    for_each_index<traits::gate_count>([&](auto g) {
      if (gates::recurrent_block(int(g.value)) == recurrent) found = gates::input_block(int(g.value));
    });
    return found;
  }

  /// What a cell's gradients are for a gradient of 1 of one of the next states: they are sums of these, each times the
  /// gradient of its state, so that all but this sum is done while shares are on their way. The gradient of y is added
  /// here too.
  __device__ void differentiate(unit_gradients<Cell, accumulate> (&of_state)[traits::states]) {
    unit_inputs<Cell, accumulate> in;
#pragma unroll
    for (int g = 0; g < traits::gate_count; ++g) in.gates[g] = accumulate(operands_.saved[g]);
    in.states[0] = accumulate(operands_.h_before);
#pragma unroll
    for (int s = 1; s < traits::states; ++s) in.states[s] = accumulate(operands_.before[s - 1]);
#pragma unroll
    for (int u = 0; u < traits::unit_parameters; ++u) in.units[u] = constants()[u * Shape::units + unit_];
    carried_[0] += accumulate(operands_.dy);
#pragma unroll
    for (int s = 0; s < traits::states; ++s) {
      accumulate next[traits::states] = {};
      next[s] = 1;
      device_backward<Cell, accumulate>(in, next, of_state[s]);
    }
  }

  /// The gradient of h of this thread's cell: every quarter of the warp adds up the packets of every fourth block, then
  /// they exchange what belongs to the others' cells.
  __device__ accumulate add_shares(int parity) const {
    unsigned char const* const from = shared_ + shares_at_ + parity * layout::received;
    int const quarter = lane_ / 8;
    accumulate sum[4] = {};
#pragma unroll
    for (int i = 0; i < Shape::cluster / 4; ++i) {
      auto const share = *reinterpret_cast<shares const*>(from + i * 4 * layout::of_block);
#pragma unroll
      for (int j = 0; j < 4; ++j) sum[j] += share.values[j];
    }
    bool const upper = quarter / 2 == 1, odd = quarter % 2 == 1;
    accumulate both[2];
#pragma unroll
    for (int j = 0; j < 2; ++j)
      both[j] = (upper ? sum[2 + j] : sum[j]) + __shfl_xor_sync(~0u, upper ? sum[j] : sum[2 + j], 16);
    return (odd ? both[1] : both[0]) + __shfl_xor_sync(~0u, odd ? both[0] : both[1], 8);
  }

  /// `row`: among those of all steps.
  __device__ void load(std::int64_t row) {
    std::int64_t const hidden = t_.hidden, r = unknown(row);
    int const unit = column();
    storage const* const saved = a_.cell.saved + r * (traits::gate_count * hidden) + unit;
#pragma unroll
    for (int g = 0; g < traits::gate_count; ++g) operands_.saved[g] = saved[g * hidden];
    operands_.h_before = a_.cell.h_before[r * hidden + unit];
    operands_.dy = a_.cell.dy != nullptr ? a_.cell.dy[r * a_.cell.dy_row + unit] : storage(0);
#pragma unroll
    for (int s = 1; s < traits::states; ++s) operands_.before[s - 1] = a_.cell.before[s - 1][r * hidden + unit];
  }

  arguments const& a_;
  int unit_, row_;  ///< of a thread's cell, within block and cluster
  bool inside_;     ///< it is one
  bool has_cells_;  ///< this warp has some
  int rows_left_;   ///< rows of the cluster from this lane's first one on: it has rows 2 * (lane % 4) and the next of
                    ///< every 8
  int shares_at_, gates_at_;  ///< parity 0: the shares that a thread adds, where its gate gradients go
  std::uint32_t operand_;     ///< address of what this lane reads of the first operand
  std::uint32_t peer_[m_tiles], packet_at_[m_tiles];  ///< see place_shares
  typename layout::tiles tiles_;
  operands operands_;
  accumulate carried_[traits::states];  ///< gradients of the states that the next step passes back
  accumulate unit_sums_[traits::unit_parameters > 0 ? traits::unit_parameters : 1];
};

template <class Cell, class Precision, class Shape>
__global__ void __launch_bounds__(team_threads, 1)
    cluster_sweep_gradient_kernel(cluster_sweep_gradient_arguments<Cell, Precision> const __grid_constant__ a) {
  extern __shared__ __align__(128) unsigned char sweep_shared[];
  cluster_sweep_gradient<Cell, Precision, Shape>(a, sweep_shared).run();
}

}  // namespace rnnopt::detail

#pragma once

#include <cstdint>

#include "rnnopt/device/pointwise.cuh"
#include "rnnopt/device/sweep/resident_tiles.cuh"

/// All steps of a line in one kernel: R stays in the registers and the shared memory of a cluster, h goes from block to
/// block through distributed shared memory (Diamos et al. 2016, sections 3 and 4).
///
/// A step: every block has all of h for its rows; its product warps share its rows of R and k and leave sums in shared
/// memory; its cell warps add them up, run the cells of its units and send the new h, 16 bytes at a time, to all
/// blocks. Cost of a step, however few rows there are: the way through product, barrier, cell and exchange, each of
/// which waits for the one before; instructions, not bytes, are most of it. What a step reads from memory is asked for
/// a step ahead and kept as it came: a value that is converted, or spilled, when it arrives makes every step wait for
/// memory.

namespace rnnopt::detail {

template <class Cell, class Precision>
struct cluster_sweep_arguments {
  pointwise_arguments<Cell, Precision> cell;     ///< of the first step
  typename Precision::storage const* recurrent;  ///< R [recurrent_gates, hidden, hidden]
  cluster_team team;
  std::int32_t steps;
  std::int64_t step_rows;   ///< rows from a step to the next: batch, or -batch where the line runs backward in time
  std::int64_t state_rows;  ///< the same for the states other than h; 0 where they are updated in place
};

template <class Cell, class Precision, class Variant>
class cluster_sweep : team_block {
  using traits = cell_traits<Cell>;
  using gates = typename traits::gates;
  using storage = typename Precision::storage;
  using accumulate = typename Precision::accumulate;
  using state = typename Precision::state;
  using arguments = cluster_sweep_arguments<Cell, Precision>;

 public:
  __device__ cluster_sweep(arguments const& a, unsigned char* shared)
      : team_block(a.team, shared),
        a_(a),
        group_threads_(32 * cell_warps / a.team.slots),
        group_((int(threadIdx.x) - product_threads) / group_threads_) {}

  /// All threads: barriers, constants and the buffers, which have h in rows `pitch` bytes apart.
  __device__ void prepare() {
    if (threadIdx.x == 0) prepare_barriers([&](int slot, int parity) { expect(slot, parity); });
    // h before the first step; zeros where there is none, which the product reads all the same.
    int const width = t_.cluster * t_.units;
    for (int slot = 0; slot < me_.slots; ++slot)
      for (int parity = 0; parity < 2; ++parity)
        for (int row = me_.warp; row < Variant::rows; row += team_threads / 32) {
          auto* const to = reinterpret_cast<storage*>(buffer(slot, parity) + row * t_.pitch);
          bool const there = parity == 0 && row < me_.rows_of(t_, slot);
          std::int64_t const from = std::int64_t(me_.first_row + slot * t_.slot_rows + row) * t_.hidden;
          for (int k = me_.lane; k < width; k += 32)
            to[k] = there && k < t_.hidden ? a_.cell.h_before[from + k] : storage(0);
        }
    for (int i = int(threadIdx.x); i < (gates::count + traits::unit_parameters) * t_.units; i += team_threads) {
      int const gate = i / t_.units, unit = first_unit() + i % t_.units;
      accumulate value = 0;
      if (unit < t_.hidden) {
        if (gate >= gates::count) value = accumulate(a_.cell.units[(gate - gates::count) * t_.hidden + unit]);
        else if (a_.cell.bias != nullptr) value = accumulate(a_.cell.bias[gate * t_.hidden + unit]);
      }
      constants()[i] = value;
    }
    __syncthreads();
  }

  /// What the first warps do: R h for one slot after the other.
  __device__ void run_products() {
    load_recurrent();
    synchronize_cluster();  // barriers and buffers of all blocks are ready
    int const threads[] = {product_threads + active_threads(0), product_threads + active_threads(1)};
    for (int step = 0; step < a_.steps; ++step)
#pragma unroll 1
      for (int slot = 0; slot < me_.slots; ++slot) {
        if (step > 0) receive(slot, step);
        multiply(slot, step & 1);
        arrive_for_threads(1 + slot, slot == 0 ? threads[0] : threads[1]);
      }
  }
  /// What the others do: the cells of one slot.
  __device__ void run_cells() {
    place_cells();
    synchronize_cluster();
    if (group_ >= me_.slots || int(threadIdx.x) - product_threads - group_ * group_threads_ >= active_threads(group_))
      return;
#pragma unroll
    for (int c = 0; c < Variant::cells; ++c)
      if (inside(c)) {
        std::int64_t const at = batch_row(c) * t_.hidden + first_unit() + cell_unit(c);
        states_[c][0] = accumulate(a_.cell.h_before[at]);
#pragma unroll
        for (int s = 1; s < traits::states; ++s) states_[c][s] = accumulate(a_.cell.before[s - 1][at]);
        load_inputs(c, 0);
      }
    int const threads = product_threads + active_threads(group_);
    for (int step = 0; step < a_.steps; ++step) {
      synchronize_threads(1 + group_, threads);
      run_cells(group_, step);
    }
  }

 private:
  /// Sums of the product of a slot, [warps_k, rows, sums_pitch].
  __device__ accumulate* sums(int slot) const {
    return reinterpret_cast<accumulate*>(shared_ + t_.handed_at) + slot * t_.warps_k * Variant::rows * t_.sums_pitch;
  }
  /// [gates + unit_parameters, units]
  __device__ accumulate* constants() const { return reinterpret_cast<accumulate*>(shared_ + t_.constants_at); }

  /// Unit and row of a thread's cells within block and slot: neighbours have neighbouring units.
  __device__ int cell_unit(int c) const { return unknown(unit_and_row_[c]) & 0xffff; }
  __device__ int cell_row(int c) const { return unknown(unit_and_row_[c]) >> 16; }
  __device__ bool inside(int c) const { return inside_ >> c & 1; }
  __device__ std::int64_t batch_row(int c) const { return me_.first_row + group_ * t_.slot_rows + cell_row(c); }

  /// This lane's words of a tile of this block's rows of R, gate after gate; a tile has rows of one gate.
  __device__ void fetch_recurrent(int row_tile, int k_tile, std::uint32_t (&words)[4]) const {
    constexpr int word_elements = 4 / int(sizeof(storage));
    int const row = row_tile * fragment_rows, gate = row / t_.units,
              unit = first_unit() + row % t_.units + me_.lane / 4;
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      int const from = unit + w % 2 * 8, k = (k_tile * 8 + me_.lane % 4 + w / 2 * 4) * word_elements;
      storage elements[word_elements];
#pragma unroll
      for (int i = 0; i < word_elements; ++i)
        elements[i] = gate < gates::recurrent_count && from < t_.hidden && k + i < t_.hidden
                          ? a_.recurrent[(std::int64_t(gate) * t_.hidden + from) * t_.hidden + k + i]
                          : storage(0);
      memcpy(&words[w], elements, 4);
    }
  }

  __device__ void expect(int slot, int parity) {
    bars().full[slot][parity].arrive_expecting(
        unsigned(me_.rows_of(t_, slot) * t_.cluster * t_.units * int(sizeof(storage))));
  }
  /// Waits for all of h of the step before.
  __device__ void receive(int slot, int step) {
    bars().full[slot][step & 1].wait(unsigned((step - 1) / 2 & 1));
    if (threadIdx.x == 0) expect(slot, step & 1);
  }

  __device__ void place_cells() {
#pragma unroll
    for (int c = 0; c < Variant::cells; ++c) {
      int const cell = (int(threadIdx.x) - product_threads) % group_threads_ + c * group_threads_;
      unit_and_row_[c] = cell % t_.units | cell / t_.units << 16;
      bool const row = cell / t_.units < me_.rows_of(t_, group_);
      inside_ |= int(row && first_unit() + cell % t_.units < t_.hidden) << c | int(row) << (16 + c);
    }
  }

  /// Threads of whole warps that have cells in a slot: each of these warps sends some h, so that the next product waits
  /// for all of them.
  __device__ int active_threads(int slot) const {
    int const cells = me_.rows_of(t_, slot) * t_.units;
    return cells < group_threads_ ? (cells + 31) / 32 * 32 : group_threads_;
  }

  __device__ void load_recurrent() {
    int const warp_m = me_.warp % t_.warps_m, warp_k = me_.warp / t_.warps_m;
    first_pair_ = warp_k * t_.pairs;
    sums_at_ = warp_k < t_.warps_k ? warp_k * Variant::rows * t_.sums_pitch + warp_m * 2 * fragment_rows +
                                         me_.lane / 4 + me_.lane % 4 * 2 * t_.sums_pitch
                                   : -1;
    int const all = t_.cluster * t_.units * int(sizeof(storage)) / pair_bytes, left = all - first_pair_;
    int const pairs = warp_k < t_.warps_k ? (left < t_.pairs ? (left > 0 ? left : 0) : t_.pairs) : 0;
    int const spilled = t_.pairs > Variant::pairs ? t_.pairs - Variant::pairs : 0;
    tiles_ =
        resident_tiles<storage, Variant::pairs>(pairs, shared_ + t_.tiles_at + me_.warp * spilled * 4 * tile_bytes);
    auto const fetch = [&](int row_tile, int k_tile, std::uint32_t(&words)[4]) {
      fetch_recurrent(row_tile, k_tile, words);
    };
    tiles_.load_registers(fetch, 2 * warp_m, first_pair_, shared_ + t_.handed_at + me_.warp * 4 * tile_bytes);
    tiles_.load_shared(fetch, 2 * warp_m, first_pair_);
  }

  __device__ void multiply(int slot, int parity) {
    accumulate products[2][2][Variant::n_tiles][4] = {};
    tiles_.multiply(products, shared_address(buffer(slot, parity)) + unsigned(first_pair_ * pair_bytes), t_.pitch);
    if (sums_at_ < 0) return;
    accumulate* const to = sums(slot) + sums_at_;
#pragma unroll
    for (int m = 0; m < 2; ++m)
#pragma unroll
      for (int n = 0; n < Variant::n_tiles; ++n)
#pragma unroll
        for (int i = 0; i < 4; ++i)
          to[(n * 8 + i % 2) * t_.sums_pitch + m * fragment_rows + i / 2 * 8] =
              products[0][m][n][i] + products[1][m][n][i];
  }

  __device__ void run_cells(int slot, int step) {
    unit_inputs<Cell, accumulate> in[Variant::cells];
    storage h[Variant::cells];
#pragma unroll
    for (int c = 0; c < Variant::cells; ++c) {
      accumulate next[traits::states] = {};
      if (inside(c)) {
        add_products(in[c], slot, c);
#pragma unroll
        for (int s = 0; s < traits::states; ++s) in[c].states[s] = states_[c][s];
#pragma unroll
        for (int u = 0; u < traits::unit_parameters; ++u)
          in[c].units[u] = constants()[(gates::count + u) * t_.units + cell_unit(c)];
        device_step<Cell>(in[c], next);
      }
      h[c] = storage(next[0]);
      states_[c][0] = accumulate(h[c]);
#pragma unroll
      for (int s = 1; s < traits::states; ++s) states_[c][s] = accumulate(state(next[s]));
    }
    // The others wait for h; everything else comes after it.
    if (step + 1 < a_.steps)
#pragma unroll
      for (int c = 0; c < Variant::cells; ++c) send_h(c, h[c], step);
#pragma unroll
    for (int c = 0; c < Variant::cells; ++c) {
      if (!inside(c)) continue;
      store(c, in[c], h[c], step);
      if (step + 1 < a_.steps) load_inputs(c, step + 1);
    }
  }

  /// Pre-activations: bias, W x and R h.
  __device__ void add_products(unit_inputs<Cell, accumulate>& in, int slot, int c) const {
    int const unit = cell_unit(c);
    accumulate const* const from = sums(slot) + cell_row(c) * t_.sums_pitch + unit;
    accumulate through_r[gates::recurrent_count];
    int const apart = Variant::rows * t_.sums_pitch;
    if (t_.warps_k == 2) {
      sum_parts<2>(through_r, from, apart);
    } else if (t_.warps_k == 4) {
      sum_parts<4>(through_r, from, apart);
    } else {
      sum_parts<1>(through_r, from, apart);
#pragma unroll 1
      for (int part = 1; part < t_.warps_k; ++part)
#pragma unroll
        for (int g = 0; g < gates::recurrent_count; ++g) through_r[g] += from[part * apart + g * t_.units];
    }
    for_each_index<gates::count>([&](auto g) {
      constexpr int gate = int(g.value), input = gates::input_block(gate), r = gates::recurrent_block(gate);
      accumulate sum = constants()[gate * t_.units + unit];
      if constexpr (input >= 0) sum += inputs_[c][input];
      if constexpr (r >= 0) sum += through_r[r];
      in.gates[gate] = sum;
    });
  }
  template <int Parts>
  __device__ void sum_parts(accumulate (&sum)[gates::recurrent_count], accumulate const* from, int apart) const {
#pragma unroll
    for (int g = 0; g < gates::recurrent_count; ++g) {
      sum[g] = from[g * t_.units];
#pragma unroll
      for (int part = 1; part < Parts; ++part) sum[g] += from[part * apart + g * t_.units];
    }
  }

  /// Every lane of the warp calls it: units and rows of 16 bytes of h are a packet, which goes to every block.
  __device__ void send_h(int c, storage h, int step) {
    constexpr int lanes = 16 / int(sizeof(storage));
    std::uint32_t words[4];
    gather_packet(h, words);
    if ((inside_ >> (16 + c) & 1) == 0) return;
    int const parity = (step + 1) & 1, first = cell_unit(c) / lanes * lanes;
    unsigned char* const to =
        buffer(group_, parity) + cell_row(c) * t_.pitch + (first_unit() + first) * int(sizeof(storage));
#pragma unroll
    for (int i = 0; i < 16 / lanes; ++i)
      if (int const block = me_.lane % lanes + i * lanes; block < t_.cluster)
        send(to, words, &bars().full[group_][parity], unsigned(block));
  }

  __device__ void load_inputs(int c, int step) {
    std::int64_t const row = unknown(step * a_.step_rows + batch_row(c));
#pragma unroll
    for (int g = 0; g < gates::input_count; ++g)
      inputs_[c][g] = a_.cell.input_products[(row * gates::input_count + g) * t_.hidden + first_unit() + cell_unit(c)];
  }

  __device__ void store(int c, unit_inputs<Cell, accumulate> const& in, storage h, int step) const {
    int const unit = first_unit() + cell_unit(c);
    std::int64_t const row = unknown(step * a_.step_rows + batch_row(c));
    a_.cell.h_after[row * t_.hidden + unit] = h;
    if (a_.cell.y != nullptr) a_.cell.y[row * a_.cell.y_row + unit] = h;
    if (a_.state_rows != 0 || step + 1 == a_.steps) {
      std::int64_t const at = unknown(step * a_.state_rows + batch_row(c)) * t_.hidden + unit;
#pragma unroll
      for (int s = 1; s < traits::states; ++s) a_.cell.after[s - 1][at] = state(states_[c][s]);
    }
    if (a_.cell.saved != nullptr)
#pragma unroll
      for (int g = 0; g < gates::count; ++g)
        a_.cell.saved[(row * gates::count + g) * t_.hidden + unit] = saturate<storage>(in.gates[g]);
  }

  arguments const& a_;
  int group_threads_;  ///< threads that run the cells of a slot
  int group_;          ///< the slot whose cells this thread runs
  int inside_ = 0;     ///< bit c: a thread's cell is one; bit 16 + c: its row is there, so that its h is sent
  int unit_and_row_[Variant::cells];  ///< of a thread's cells, the row within the slot from bit 16
  int first_pair_;
  int sums_at_;  ///< where this lane's sums go within those of a slot; below zero where the warp has none
  resident_tiles<storage, Variant::pairs> tiles_;
  accumulate states_[Variant::cells][traits::states];
  accumulate inputs_[Variant::cells][gates::input_count > 0 ? gates::input_count : 1];
};

template <class Cell, class Precision, class Variant>
__global__ void __launch_bounds__(team_threads, 1)
    cluster_sweep_kernel(cluster_sweep_arguments<Cell, Precision> const __grid_constant__ a) {
  extern __shared__ __align__(128) unsigned char sweep_shared[];
  run_team<Variant>(cluster_sweep<Cell, Precision, Variant>(a, sweep_shared));
}

}  // namespace rnnopt::detail

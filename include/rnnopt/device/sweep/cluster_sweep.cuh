#pragma once

#include <cstdint>

#include "rnnopt/device/pointwise.cuh"
#include "rnnopt/device/sweep/resident_tiles.cuh"

/// All steps of a line in one kernel: R stays in the registers and the shared memory of a cluster, h goes from block to
/// block through distributed shared memory (Diamos et al. 2016, sections 3 and 4).
///
/// A step: every block has all of h for its rows; its warps share its rows of R and k and leave sums in shared memory;
/// as many of them as are needed add the sums up, run the cells of its units and send the new h, 16 bytes at a time, to
/// all blocks. Cost of a step, however few rows there are: the way through product, barrier, cell and exchange, each of
/// which waits for the one before; instructions, not bytes, are most of it. What a step reads from memory is asked for
/// a step ahead and kept as it came: a value that is converted, or spilled, when it arrives makes every step wait for
/// memory. Neighbouring lanes send to the same block: with packets of a warp's lanes going to eight blocks in turn a
/// row took 0.13 us instead of 0.05. Results are stored by the threads that have them; handing them to warps that have
/// nothing else to do, which pays in backward, was slower here, where each has more of them in more places.

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

/// How a block cuts its part of R and lays out its shared memory: a warp has all rows of R of 16 units, or of 8 where
/// these fill tiles and leave no warp without, and a part of k.
template <class Cell, class Precision, class Shape>
struct cluster_sweep_layout {
  using storage = typename Precision::storage;
  using accumulate = typename Precision::accumulate;
  static constexpr int rows_of_r = Cell::gates::recurrent_count;  ///< of a unit
  static constexpr int group_units = rows_of_r % 2 == 0 && team_warps % (Shape::units / 8) == 0 ? 8 : 16;
  static constexpr int m_tiles = rows_of_r * group_units / fragment_rows;
  static constexpr int groups = Shape::units / group_units;
  static constexpr int all_pairs = Shape::width * int(sizeof(storage)) / pair_bytes;
  static constexpr int most_parts = team_warps / groups;
  static constexpr int pairs = (all_pairs + most_parts - 1) / most_parts;  ///< of a warp, but the last of a group
  static constexpr int parts = (all_pairs + pairs - 1) / pairs;            ///< of k
  static constexpr int kept_pairs = pairs_in_registers(pairs, m_tiles);
  using tiles = resident_tiles<storage, m_tiles, kept_pairs>;
  static constexpr int spilled_bytes = (pairs - kept_pairs) * m_tiles * 2 * tile_bytes;  ///< of a warp
  static constexpr int pitch = operand_pitch(Shape::width * int(sizeof(storage)));
  static constexpr int received = Shape::room * pitch;
  /// Sums of the product, [parts, rows, units of rows_of_r sums]: rows are so far apart that what a warp
  /// writes at once is in different banks.
  static constexpr int sums_pitch = (rows_of_r * Shape::units + 4) * int(sizeof(accumulate));
  static constexpr int part = Shape::rows * sums_pitch;
  static constexpr int constants = (Cell::gates::count + cell_traits<Cell>::unit_parameters) * Shape::units;

  static constexpr int handed_bytes = aligned_bytes(parts * part);
  static constexpr int constants_bytes = aligned_bytes(constants * int(sizeof(accumulate)));
  static constexpr int tiles_bytes = groups * parts * spilled_bytes;
  static constexpr int stage_bytes = groups * parts * tiles::kept_bytes;
};

template <class Cell, class Precision, class Shape>
class cluster_sweep : team_block<Shape, cluster_sweep_layout<Cell, Precision, Shape>> {
  using layout = cluster_sweep_layout<Cell, Precision, Shape>;
  using base = team_block<Shape, layout>;
  using traits = cell_traits<Cell>;
  using gates = typename traits::gates;
  using storage = typename Precision::storage;
  using accumulate = typename Precision::accumulate;
  using state = typename Precision::state;
  using arguments = cluster_sweep_arguments<Cell, Precision>;
  static constexpr int rows_of_r = layout::rows_of_r;
  /// Sums that a warp adds to in turn, see resident_tiles.
  static constexpr int turns = layout::m_tiles == 1 ? 4 : layout::m_tiles == 2 ? 2 : 1;
  static constexpr int prefetched_steps = 4;  ///< ahead, some microseconds
  static constexpr bool all_multiply = layout::groups * layout::parts == team_warps;
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

  /// The products of a unit with all its rows of R.
  struct alignas(rows_of_r % 4 == 0 ? 16 : rows_of_r % 2 == 0 ? 8 : 4) products {
    accumulate of[rows_of_r];
  };

 public:
  using base::shared_bytes;

  __device__ cluster_sweep(arguments const& a, unsigned char* shared) : base(a.team, shared), a_(a) {}

  __device__ void run() {
    load_recurrent();
    prepare();
    place_cells();
    synchronize_cluster();  // barriers and buffers of all blocks are ready
    if (inside_) {
      states_[0] = accumulate(a_.cell.h_before[at_]);
#pragma unroll
      for (int s = 1; s < traits::states; ++s) states_[s] = accumulate(a_.cell.before[s - 1][at_]);
      load_inputs();
    }
#pragma unroll
    for (int s = 0; s < traits::states; ++s) states_[s] = arrived(states_[s]);
    bool const announces = unknown(int(threadIdx.x)) == team_threads - 32;
    for (int step = 0; step < a_.steps; ++step) {
      int const parity = step & 1;
      if (inside_) {
#pragma unroll
        for (int g = 0; g < gates::input_count; ++g) inputs_[g] = next_inputs_[g];
        if (step + 1 < a_.steps) load_inputs();
      }
      // A warp without tiles waits too: it must not run ahead.
      full(parity).wait(unsigned(step >> 1 & 1));
      if (all_multiply || multiplies_) multiply(parity);
      if (has_cells_) {
        unit_inputs<Cell, accumulate> in;
        begin_cell(in);
        synchronize_threads(1, team_threads);
        run_cell(in, step);
      } else {
        arrive_for_threads(1, team_threads);
        if (warp_ == team_warps - 1) prefetch_inputs(step + prefetched_steps);
      }
      // Packets of the next phase may be here already: it cannot end before this arrival, and this warp has left the
      // last.
      if (announces) expect(parity);
    }
    synchronize_cluster();  // no block ends while another may still send to it
  }

 private:
  /// All threads: barriers, constants and the buffers, which have h in rows `pitch` bytes apart.
  __device__ void prepare() {
    if (threadIdx.x == 0)
      this->prepare_barriers([&](int parity) {
        if (parity == 0) full(parity).arrive();  // its h is there from the beginning
        else expect(parity);
      });
    // h before the first step; zeros where there is none, which the product reads all the same.
    for (int parity = 0; parity < 2; ++parity)
      for (int row = warp_; row < Shape::room; row += team_warps) {
        auto* const to =
            reinterpret_cast<storage*>(shared_ + buffers_at + parity * layout::received + row * layout::pitch);
        bool const there = parity == 0 && row < rows_;
        std::int64_t const from = std::int64_t(first_row_ + row) * t_.hidden;
        for (int k = lane_; k < Shape::width; k += 32)
          to[k] = there && k < t_.hidden ? a_.cell.h_before[from + k] : storage(0);
      }
    for (int i = int(threadIdx.x); i < (gates::count + traits::unit_parameters) * Shape::units; i += team_threads) {
      int const gate = i / Shape::units, unit = first_unit() + i % Shape::units;
      accumulate value = 0;
      if (unit < t_.hidden) {
        if (gate >= gates::count) value = accumulate(a_.cell.units[(gate - gates::count) * t_.hidden + unit]);
        else if (a_.cell.bias != nullptr) value = accumulate(a_.cell.bias[gate * t_.hidden + unit]);
      }
      constants()[i] = value;
    }
    __syncthreads();
  }

  /// This thread's unit among all.
  __device__ int column() const { return rank_ * Shape::units + unit_; }

  /// A thread has one cell, neighbours have neighbouring units. A warp with cells sends some h, so that the next
  /// product waits for all of them.
  __device__ void place_cells() {
    int const row = int(threadIdx.x) / Shape::units;
    unit_ = int(threadIdx.x) % Shape::units;
    has_cells_ = warp_ * 32 < rows_ * Shape::units;
    inside_ = row < rows_ && column() < t_.hidden;
    sums_from_ = handed_at + row * layout::sums_pitch + unit_ * int(sizeof(products));
    std::int64_t const batch_row = first_row_ + row, hidden = t_.hidden;
    hidden_ = unknown(t_.hidden);
    further_ = unknown(a_.step_rows * hidden);
    states_further_ = unknown(a_.state_rows * hidden);
    y_further_ = unknown(a_.step_rows * a_.cell.y_row);
    at_ = batch_row * hidden + column();
    states_at_ = at_;
    y_at_ = batch_row * a_.cell.y_row + column();
    gates_at_ = batch_row * gates::count * hidden + column();
    inputs_at_ = batch_row * gates::input_count * hidden + column();
    // Of the warp's packets a lane sends one to some blocks; neighbours send neighbouring packets to the same block.
    int const first = warp_ * 32 + lane_ % packets * (32 / packets), packet_row = first / Shape::units;
    sends_ = packet_row < rows_;
    packet_at_ = unsigned(buffers_at + packet_row * layout::pitch +
                          (first_unit() + first % Shape::units) * int(sizeof(storage)));
#pragma unroll
    for (int i = 0; i < peers; ++i)  // each block begins with another one
      peer_[i] = address_in_cluster(shared_address(shared_),
                                    unsigned(rank_ + lane_ / packets + i * (32 / packets)) % unsigned(Shape::cluster));
  }

  /// 16 bytes of a row of R: the rows of a warp are, gate after gate, those of 8 units, then those of the next 8.
  __device__ void fetch_row(int group, int block_of_8, int k, std::uint32_t (&words)[4]) const {
    constexpr int elements = 16 / int(sizeof(storage));
    int const gate = block_of_8 % rows_of_r,
              unit = first_unit() + group * layout::group_units + block_of_8 / rows_of_r * 8 + lane_ / 4;
    storage const* const from = a_.recurrent + (std::int64_t(gate) * t_.hidden + unit) * t_.hidden + k;
    if (unit < t_.hidden && k + elements <= t_.hidden && reinterpret_cast<std::uintptr_t>(from) % 16 == 0) {
      auto const line = *reinterpret_cast<uint4 const*>(from);
      words[0] = line.x, words[1] = line.y, words[2] = line.z, words[3] = line.w;
    } else {
      storage line[elements];
#pragma unroll
      for (int i = 0; i < elements; ++i) line[i] = unit < t_.hidden && k + i < t_.hidden ? from[i] : storage(0);
      memcpy(words, line, 16);
    }
  }

  __device__ void load_recurrent() {
    int const group = warp_ % layout::groups, p = warp_ / layout::groups, first_pair = p * layout::pairs;
    multiplies_ = p < layout::parts;
    rows_left_ = unknown(rows_ - lane_ % 4 * 2);
    auto const fetch = [&](int m, int pair, std::uint32_t(&lower)[4], std::uint32_t(&upper)[4]) {
      int const k = (pair * pair_bytes + lane_ % 4 * 16) / int(sizeof(storage));
      fetch_row(group, 2 * m, k, lower);
      fetch_row(group, 2 * m + 1, k, upper);
    };
    if (multiplies_) {
      sums_to_ = handed_at + p * layout::part + lane_ % 4 * 2 * layout::sums_pitch +
                 (group * layout::group_units + lane_ / 4) * int(sizeof(products));
      operand_ = shared_address(shared_) +
                 unsigned(buffers_at + first_pair * pair_bytes + lane_ % 4 * 16 + lane_ / 4 * layout::pitch);
      bool const less = layout::all_pairs % layout::pairs != 0 && p + 1 == layout::parts;
      tiles_ = typename layout::tiles(less ? layout::all_pairs % layout::pairs : layout::pairs,
                                      shared_ + tiles_at + warp_ * layout::spilled_bytes);
      tiles_.load_registers(fetch, first_pair, shared_ + buffers_at + warp_ * layout::tiles::kept_bytes);
    }
    __syncthreads();  // they all have what came through there
    if (multiplies_) tiles_.load_shared(fetch, first_pair);
    __syncwarp();
  }

  __device__ void expect(int parity) const {
    full(parity).arrive_expecting(unsigned(rows_ * Shape::width * int(sizeof(storage))));
  }

  __device__ void multiply(int parity) const {
    std::uint32_t operand = operand_ + unsigned(parity * layout::received);
    unsigned char* to = shared_ + sums_to_;
    int left = rows_left_;
#pragma unroll 1
    for (int n = 0; n < Shape::room / operand_rows; ++n) {
      if (n > 0 && n * operand_rows >= rows_) break;
      accumulate sum[turns][layout::m_tiles][4] = {};
      tiles_.template multiply<turns>(sum, operand);
#pragma unroll
      for (int i = 0; i < 2; ++i)
        if (i < left)
#pragma unroll
          for (int upper = 0; upper < layout::group_units / 8; ++upper) {
            products unit;
#pragma unroll
            for (int g = 0; g < rows_of_r; ++g) {
              int const b = upper * rows_of_r + g;
              accumulate all = sum[0][b / 2][b % 2 * 2 + i];
#pragma unroll
              for (int turn = 1; turn < turns; ++turn) all += sum[turn][b / 2][b % 2 * 2 + i];
              unit.of[g] = all;
            }
            *reinterpret_cast<products*>(to + i * layout::sums_pitch + upper * 8 * int(sizeof(products))) = unit;
          }
      operand += unsigned(operand_rows * layout::pitch);
      to += operand_rows * layout::sums_pitch;
      left -= operand_rows;
    }
  }

  /// What is there before the products are.
  __device__ void begin_cell(unit_inputs<Cell, accumulate>& in) const {
    accumulate const* const mine = constants() + unit_;
#pragma unroll
    for (int g = 0; g < gates::count; ++g) in.gates[g] = mine[g * Shape::units];
#pragma unroll
    for (int u = 0; u < traits::unit_parameters; ++u) in.units[u] = mine[(gates::count + u) * Shape::units];
#pragma unroll
    for (int s = 0; s < traits::states; ++s) in.states[s] = states_[s];
  }

  __device__ void run_cell(unit_inputs<Cell, accumulate>& in, int step) {
    bool const last = step + 1 == a_.steps;
    accumulate next[traits::states] = {};
    if (inside_) {
      add_products(in);
      device_step<Cell>(in, next);
    }
    storage const h = storage(next[0]);
    // The others wait for h; everything else comes after it.
    if (!last) send_h(h, (step + 1) & 1);
    if (!inside_) return;
    states_[0] = accumulate(h);
#pragma unroll
    for (int s = 1; s < traits::states; ++s) states_[s] = accumulate(state(next[s]));
    store(in, h, last);
    at_ += further_;
    states_at_ += states_further_;
    y_at_ += y_further_;
    gates_at_ += further_ * gates::count;
  }

  /// Pre-activations: the biases are there, W x and R h are added.
  __device__ void add_products(unit_inputs<Cell, accumulate>& in) const {
    unsigned char const* from = shared_ + sums_from_;
    products through_r{};
#pragma unroll 1
    for (int p = 0; p < layout::parts / 8; ++p, from += 8 * layout::part) add_parts<8>(through_r, from);
    add_parts<layout::parts % 8>(through_r, from);
    for_each_index<gates::count>([&](auto g) {
      constexpr int gate = int(g.value), input = gates::input_block(gate), r = gates::recurrent_block(gate);
      if constexpr (input >= 0) in.gates[gate] += inputs_[input];
      if constexpr (r >= 0) in.gates[gate] += through_r.of[r];
    });
  }
  template <int Parts>
  __device__ static void add_parts(products& sum, unsigned char const* from) {
    products more[Parts > 0 ? Parts : 1];
#pragma unroll
    for (int p = 0; p < Parts; ++p) more[p] = *reinterpret_cast<products const*>(from + p * layout::part);
#pragma unroll
    for (int p = 0; p < Parts; ++p)
#pragma unroll
      for (int g = 0; g < rows_of_r; ++g) sum.of[g] += more[p].of[g];
  }

  /// Every lane of the warp calls it: units of 16 bytes of h are a packet, which goes to every block.
  __device__ void send_h(storage h, int parity) const {
    std::uint32_t words[4];
    gather_packet(h, lane_ % packets, words);
    if (!sends_) return;
    std::uint32_t const at = packet_at_ + unsigned(parity * layout::received),
                        barrier = unsigned(parity * int(sizeof(shared_barrier)));
#pragma unroll
    for (int i = 0; i < peers; ++i) send(peer_[i] + at, words, peer_[i] + barrier);
  }

  /// Asks for the first line of this block's input products of each row and gate to come into L2, which is less than a
  /// step away from here; memory may be further. Only a last warp without cells has the time.
  __device__ void prefetch_inputs(int step) const {
    if (step >= a_.steps) return;
    if constexpr (gates::input_count > 0)
      for (int i = lane_; i < rows_ * gates::input_count; i += 32) {
        std::int64_t const row = first_row_ + i / gates::input_count + step * a_.step_rows;
        prefetch_line(a_.cell.input_products + (row * gates::input_count + i % gates::input_count) * t_.hidden +
                      first_unit());
      }
  }

  /// Asks for the input products of the next step: they have the time of a whole step to come.
  __device__ void load_inputs() {
    accumulate const* const from = a_.cell.input_products + unknown(inputs_at_);
#pragma unroll
    for (int g = 0; g < gates::input_count; ++g) next_inputs_[g] = from[g * std::int64_t(hidden_)];
    inputs_at_ += further_ * gates::input_count;
  }

  __device__ void store(unit_inputs<Cell, accumulate> const& in, storage h, bool last) const {
    std::int64_t const at = unknown(at_);
    a_.cell.h_after[at] = h;
    if (a_.cell.y != nullptr) a_.cell.y[unknown(y_at_)] = h;
    if (a_.state_rows != 0 || last)
#pragma unroll
      for (int s = 1; s < traits::states; ++s) a_.cell.after[s - 1][unknown(states_at_)] = state(states_[s]);
    if (a_.cell.saved != nullptr) {
      storage* const to = a_.cell.saved + unknown(gates_at_);
#pragma unroll
      for (int g = 0; g < gates::count; ++g) to[g * std::int64_t(hidden_)] = saturate<storage>(in.gates[g]);
    }
  }

  static constexpr int packets = 2 * int(sizeof(storage));     ///< of a warp: its 32 units, 16 bytes each
  static constexpr int peers = Shape::cluster * packets / 32;  ///< that a lane sends its packet to

  arguments const& a_;
  int unit_;         ///< of a thread's cell, within the block
  bool inside_;      ///< it is one
  bool sends_;       ///< the row of the packet that it sends is there
  bool has_cells_;   ///< this warp has some
  bool multiplies_;  ///< and tiles
  int rows_left_;    ///< rows of the cluster from this lane's first one on: it has rows 2 * (lane % 4) and the next of
                     ///< every 8
  std::uint32_t operand_;      ///< address of what this lane reads of the first buffer
  int sums_to_, sums_from_;    ///< where this lane's sums go; where those of its cell are
  std::uint32_t packet_at_;    ///< where its h goes, parity 0
  std::uint32_t peer_[peers];  ///< where the shared memory of blocks begins
  /// This step's elements of states, y and pre-activations, the next one's of input products.
  std::int64_t at_, states_at_, y_at_, gates_at_, inputs_at_;
  std::int64_t states_further_, y_further_;
  int hidden_;
  std::int64_t further_;  ///< elements from a step to the next
  typename layout::tiles tiles_;
  accumulate states_[traits::states] = {};
  accumulate inputs_[gates::input_count > 0 ? gates::input_count : 1];
  accumulate next_inputs_[gates::input_count > 0 ? gates::input_count : 1];
};

template <class Cell, class Precision, class Shape>
__global__ void __launch_bounds__(team_threads, 1)
    cluster_sweep_kernel(cluster_sweep_arguments<Cell, Precision> const __grid_constant__ a) {
  extern __shared__ __align__(128) unsigned char sweep_shared[];
  cluster_sweep<Cell, Precision, Shape>(a, sweep_shared).run();
}

}  // namespace rnnopt::detail

#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "rnnopt/device/sweep/cluster_sweep.cuh"
#include "rnnopt/device/sweep/cluster_sweep_gradient.cuh"
#include "rnnopt/error.hpp"
#include "rnnopt/extents.hpp"

/// How a network's sweeps are cut and launched: from extents and device alone, so that two plans give the same bits.

namespace rnnopt::detail {

/// Why sweeps cannot be run: nothing where they can.
struct sweep_misfit {
  std::string reason;
  errc code = errc::does_not_fit;
};

/// A compiled kernel of a sweep and the shape it was compiled for.
template <class Arguments>
struct sweep_variant {
  void (*kernel)(Arguments);
  int pairs, n_tiles, rows, cells;
  int kept_groups, kept_pairs;
};

/// One way to run a sweep.
template <class Arguments>
struct sweep_launch {
  sweep_variant<Arguments> variant{};
  cluster_team team{};
  int shared_bytes = 0;
  int clusters = 0;
  double time = 0;  ///< microseconds a step, modelled
};

/// The kernels that are compiled for a cell: more of R in registers where a thread has few cells.
template <class Cell, class Precision>
struct sweep_kernels {
  using forward_arguments = cluster_sweep_arguments<Cell, Precision>;
  using backward_arguments = cluster_sweep_gradient_arguments<Cell, Precision>;

  static std::vector<sweep_variant<forward_arguments>> forward() {
    return {forward_variant<8, 1, 2>(), forward_variant<4, 1, 4>(), forward_variant<4, 2, 4>()};
  }
  static std::vector<sweep_variant<backward_arguments>> backward() {
    return {backward_variant<6, 1, 2>(), backward_variant<4, 1, 4>(), backward_variant<4, 2, 4>()};
  }

 private:
  template <class Arguments, class Shape>
  static sweep_variant<Arguments> variant_of(void (*kernel)(Arguments)) {
    return {kernel, Shape::pairs, Shape::n_tiles, Shape::rows, Shape::cells, Shape::kept_groups, Shape::kept_pairs};
  }
  template <int Pairs, int NTiles, int Cells>
  static sweep_variant<forward_arguments> forward_variant() {
    using shape = cluster_sweep_shape<Pairs, NTiles, Cells>;
    return variant_of<forward_arguments, shape>(cluster_sweep_kernel<Cell, Precision, shape>);
  }
  template <int Pairs, int NTiles, int Cells>
  static sweep_variant<backward_arguments> backward_variant() {
    using shape = cluster_sweep_shape<Pairs, NTiles, Cells>;
    return variant_of<backward_arguments, shape>(cluster_sweep_gradient_kernel<Cell, Precision, shape>);
  }
};

/// The sweeps of a network; only for cells with recurrent gates and precisions that multiply on the matrix units.
template <class Cell, class Precision>
class cluster_sweep_plan {
  using gates = typename cell_traits<Cell>::gates;
  using storage = typename Precision::storage;
  using accumulate = typename Precision::accumulate;
  using forward_arguments = cluster_sweep_arguments<Cell, Precision>;
  using backward_arguments = cluster_sweep_gradient_arguments<Cell, Precision>;
  static constexpr int recurrent_gates = gates::recurrent_count;
  static constexpr char const* where = "planning a sweep";

 public:
  /// Chooses for the current device.
  explicit cluster_sweep_plan(extents const& e) : e_(e) {
    if (e.steps == 0 || e.batch == 0) return;
    if (!has_dependent_launch()) {
      misfit_ = {"sweeps need compute capability 9.0 and a program compiled for it", errc::not_supported};
      return;
    }
    int device = 0;
    require_success(cudaGetDevice(&device), where);
    require_success(cudaDeviceGetAttribute(&most_shared_, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), where);
    char const* const pass = !choose(sweep_kernels<Cell, Precision>::forward(), false, forward_)    ? "forward"
                             : !choose(sweep_kernels<Cell, Precision>::backward(), true, backward_) ? "backward"
                                                                                                    : nullptr;
    if (pass != nullptr)
      misfit_.reason = std::string("no cluster of up to 16 blocks can run the sweep ") + pass + ": R of hidden " +
                       std::to_string(e.hidden) + " is " +
                       std::to_string(recurrent_gates * e.hidden * e.hidden * std::int64_t(sizeof(storage))) +
                       " bytes, in " + std::to_string(recurrent_gates) + " row blocks";
  }

  sweep_misfit const& misfit() const { return misfit_; }

  /// Enqueues steps of a line, all but `team` set by the caller.
  void forward(cudaStream_t stream, forward_arguments a) const { launch(stream, forward_, a); }
  /// Enqueues the gradients of steps of a line.
  void backward(cudaStream_t stream, backward_arguments a) const { launch(stream, backward_, a); }

 private:
  template <class Arguments>
  static void launch(cudaStream_t stream, sweep_launch<Arguments> const& l, Arguments& a) {
    a.team = l.team;
    launch_kernel(stream, l.variant.kernel, shape_of(l), a, "launching a sweep");
  }
  template <class Arguments>
  static launch_shape shape_of(sweep_launch<Arguments> const& l) {
    launch_shape shape;
    shape.grid = dim3(unsigned(l.clusters * l.team.cluster));
    shape.block = dim3(team_threads);
    shape.shared_bytes = l.shared_bytes;
    shape.cluster = l.team.cluster;
    return shape;
  }

  /// The fastest way by the model; false where there is none.
  template <class Arguments>
  bool choose(std::vector<sweep_variant<Arguments>> const& variants, bool backward,
              sweep_launch<Arguments>& chosen) const {
    bool found = false;
    for (auto const& v : variants) {
      cudaFuncAttributes attributes{};
      auto const* const kernel = reinterpret_cast<void const*>(v.kernel);
      require_success(cudaFuncGetAttributes(&attributes, kernel), where);
      require_success(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), where);
      int const most = most_shared_ - int(attributes.sharedSizeBytes);
      require_success(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most), where);
      for (int cluster = 2; cluster <= 16; cluster *= 2)
        for (int slots = 1; slots <= team_slots; ++slots) {
          sweep_launch<Arguments> l{};
          l.variant = v;
          if (!cut(l, cluster, slots, backward) || l.shared_bytes > most) continue;
          l.clusters = 1;
          int const resident = resident_clusters(v.kernel, shape_of(l), where);
          if (resident == 0) continue;
          share_out_rows(l, resident);
          l.time = modelled_time(l, resident, backward);
          if (found && l.time >= chosen.time) continue;
          chosen = l;
          found = true;
        }
    }
    return found;
  }

  /// Cuts hidden into blocks and lays out their shared memory; false where the kernel is not made for it.
  template <class Arguments>
  bool cut(sweep_launch<Arguments>& l, int cluster, int slots, bool backward) const {
    cluster_team& t = l.team;
    std::int64_t const units = ((e_.hidden + cluster - 1) / cluster + 15) / 16 * 16;
    if (units > 512) return false;
    if (cluster > 2 && cluster / 2 * units >= e_.hidden) return false;  // half of the blocks would do
    t.hidden = std::int32_t(e_.hidden);
    t.batch = std::int32_t(e_.batch);
    t.cluster = cluster;
    t.units = int(units);
    t.slots = slots;
    int const rows = l.variant.rows, width = cluster * t.units;
    if (rows * t.units > l.variant.cells * (32 * cell_warps / slots)) return false;
    std::int64_t shared = 128;  // barriers
    auto const take = [&](std::int64_t bytes) {
      std::int64_t const start = shared;
      shared += (bytes + 127) / 128 * 128;
      return std::int32_t((std::min)(start, std::int64_t(1) << 30));
    };
    std::int64_t spilled = 0;  // tiles of R in shared memory
    std::int64_t sums = 0;
    if (backward) {
      t.pairs = (recurrent_gates * t.units * int(sizeof(storage)) + pair_bytes - 1) / pair_bytes;
      t.pitch = t.pairs * pair_bytes + 16;
      t.tiles_to_blocks = (1 << 16) / (t.units / fragment_rows) + 1;                   // exact below 2^16 / 32 tiles
      t.received = cluster * (t.units / fragment_rows) * l.variant.n_tiles * 32 * 16;  // packets of 16 bytes
      int const groups = width / (2 * fragment_rows);
      int const kept = l.variant.kept_groups * product_warps;
      spilled = std::int64_t(4) * ((std::min)(groups, kept) * (std::max)(0, t.pairs - l.variant.kept_pairs) +
                                   (std::max)(0, groups - kept) * t.pairs);
      sums = std::int64_t(2) * slots * rows * t.pitch;
    } else {
      int const tiles = recurrent_gates * t.units / fragment_rows;
      t.warps_m = (tiles + 1) / 2;
      if (t.warps_m > product_warps) return false;
      for (t.warps_k = 1; 2 * t.warps_k * t.warps_m <= product_warps;) t.warps_k *= 2;
      int const all = width * int(sizeof(storage)) / pair_bytes;
      t.pairs = (all + t.warps_k - 1) / t.warps_k;
      t.pitch = width * int(sizeof(storage)) + 16;
      t.received = rows * t.pitch;
      t.sums_pitch = 2 * fragment_rows * t.warps_m + 4;
      spilled = std::int64_t(4) * t.warps_m * t.warps_k * (std::max)(0, t.pairs - l.variant.pairs);
      sums = std::int64_t(slots) * t.warps_k * rows * t.sums_pitch * std::int64_t(sizeof(accumulate));
    }
    // R comes through the one in forward, through the other in backward.
    std::int64_t const stages = std::int64_t(product_warps) * 4 * tile_bytes;
    t.buffers_at = take((std::max)(std::int64_t(2) * slots * t.received, backward ? stages : 0));
    t.handed_at = take((std::max)(sums, backward ? 0 : stages));
    int const constants = (backward ? 0 : gates::count) + cell_traits<Cell>::unit_parameters;
    t.constants_at = take(constants * t.units * std::int64_t(sizeof(accumulate)));
    t.tiles_at = take(spilled * tile_bytes);
    l.shared_bytes = int((std::min)(shared, std::int64_t(1) << 30));
    return true;
  }

  /// The rows of the batch over as many clusters as the GPU holds, or over rounds of them where there are more.
  template <class Arguments>
  void share_out_rows(sweep_launch<Arguments>& l, int resident) const {
    cluster_team& t = l.team;
    std::int64_t const most = t.slots * l.variant.rows;
    t.rows = int((std::min)(most, (e_.batch + resident - 1) / resident));
    t.slot_rows = (t.rows + t.slots - 1) / t.slots;
    l.clusters = int((e_.batch + t.rows - 1) / t.rows);
  }

  /// Microseconds a step on an H200, to choose by; what rnnopt_bench measures is up to twice as long. What travels
  /// takes 0.32 and 0.028 for each KB; a matrix instruction 1.6 cycles of a processor, a tile from shared memory 4;
  /// sums, cells and barriers about a quarter of one. Two slots hide each other's way; rounds of clusters follow one
  /// another.
  template <class Arguments>
  double modelled_time(sweep_launch<Arguments> const& l, int resident, bool backward) const {
    cluster_team const& t = l.team;
    double const sent = backward ? 16.0 * t.cluster * t.units / 2 * ((t.slot_rows + 1) / 2)
                                 : double(t.slot_rows) * t.cluster * t.units * sizeof(storage);
    double const travel = 0.32 + 0.028 * sent / 1024;
    double const tiles =
        double(recurrent_gates) * t.units / fragment_rows * t.cluster * t.units * sizeof(storage) / fragment_bytes;
    double const in_shared = (std::max)(0.0, tiles - 4.0 * product_warps * l.variant.pairs);
    double const cycles = tiles * l.variant.n_tiles * 1.6 + in_shared * tile_bytes / 128;
    double const product = cycles / 1980;  // of a clock of 1980 MHz
    double const work = product + 0.25;
    double const step = t.slots == 1 ? travel + work : (std::max)(2 * work, travel + work);
    return step * double((l.clusters + resident - 1) / resident);
  }

  extents e_;
  int most_shared_ = 0;
  sweep_misfit misfit_;
  sweep_launch<forward_arguments> forward_;
  sweep_launch<backward_arguments> backward_;
};

}  // namespace rnnopt::detail

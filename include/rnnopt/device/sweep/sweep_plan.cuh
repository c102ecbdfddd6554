#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>
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

/// A compiled kernel of a sweep and its shape.
template <class Arguments>
struct sweep_variant {
  void (*kernel)(Arguments);
  int units, cluster, rows;
  int shared_bytes;
};

/// One way to run a sweep.
template <class Arguments>
struct sweep_launch {
  sweep_variant<Arguments> variant{};
  cluster_team team{};
  int clusters = 0;
  double time = 0;  ///< microseconds a step, modelled
};

inline constexpr int most_shared_bytes = 227 * 1024;  ///< of a block, compute capability 9.0

/// Whether a block of a shape holds its part of R beside what travels.
template <class Sweep>
inline constexpr bool fits_into_a_block = Sweep::shared_bytes <= most_shared_bytes;

/// The widest shape, of clusters of 16, that holds R: the most units a block, and of these the most rows.
template <template <class, class, class> class Sweep, class Cell, class Precision, int Units = 96>
struct widest_shape {
  static constexpr int most_rows = 2 * (team_warps / (Units / fragment_rows));
  static constexpr int rows = most_rows < operand_rows ? most_rows : operand_rows;
  using many = team_shape<Units, 16, rows>;
  using few = team_shape<Units, 16, rows / 2>;
  using type = std::conditional_t<
      fits_into_a_block<Sweep<Cell, Precision, many>>, many,
      typename std::conditional_t<fits_into_a_block<Sweep<Cell, Precision, few>>, std::enable_if<true, few>,
                                  widest_shape<Sweep, Cell, Precision, Units - fragment_rows>>::type>;
};
template <template <class, class, class> class Sweep, class Cell, class Precision>
struct widest_shape<Sweep, Cell, Precision, 2 * fragment_rows> {
  using type = team_shape<2 * fragment_rows, 16, operand_rows>;
};

/// The kernels that are compiled for a cell: for hidden up to 256 and 512, each for 8 and 16 rows of the batch, and for
/// all that a cluster holds of R.
template <class Cell, class Precision>
struct sweep_kernels {
  using forward_arguments = cluster_sweep_arguments<Cell, Precision>;
  using backward_arguments = cluster_sweep_gradient_arguments<Cell, Precision>;

  static std::vector<sweep_variant<forward_arguments>> forward() {
    std::vector<sweep_variant<forward_arguments>> all;
    for_each_shape<cluster_sweep>([&](auto shape) {
      all.push_back(variant_of<cluster_sweep, decltype(shape)>(cluster_sweep_kernel<Cell, Precision, decltype(shape)>));
    });
    return all;
  }
  static std::vector<sweep_variant<backward_arguments>> backward() {
    std::vector<sweep_variant<backward_arguments>> all;
    for_each_shape<cluster_sweep_gradient>([&](auto shape) {
      all.push_back(variant_of<cluster_sweep_gradient, decltype(shape)>(
          cluster_sweep_gradient_kernel<Cell, Precision, decltype(shape)>));
    });
    return all;
  }

 private:
  template <template <class, class, class> class Sweep, class Function>
  static void for_each_shape(Function const& function) {
    call_if_it_fits<Sweep, team_shape<32, 8, 8>>(function);
    call_if_it_fits<Sweep, team_shape<32, 8, 16>>(function);
    call_if_it_fits<Sweep, team_shape<32, 16, 8>>(function);
    call_if_it_fits<Sweep, team_shape<32, 16, 16>>(function);
    using widest = typename widest_shape<Sweep, Cell, Precision>::type;
    if constexpr (widest::units > 32) function(widest{});
  }
  template <template <class, class, class> class Sweep, class Shape, class Function>
  static void call_if_it_fits(Function const& function) {
    if constexpr (fits_into_a_block<Sweep<Cell, Precision, Shape>>) function(Shape{});
  }
  template <template <class, class, class> class Sweep, class Shape, class Arguments>
  static sweep_variant<Arguments> variant_of(void (*kernel)(Arguments)) {
    return {kernel, Shape::units, Shape::cluster, Shape::rows, Sweep<Cell, Precision, Shape>::shared_bytes};
  }
};

/// The sweeps of a network; only for cells with recurrent gates and precisions that multiply on the matrix units.
template <class Cell, class Precision>
class cluster_sweep_plan {
  using gates = typename cell_traits<Cell>::gates;
  using storage = typename Precision::storage;
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
    plan("forward", sweep_kernels<Cell, Precision>::forward(), forward_);
    if (misfit_.reason.empty()) plan("backward", sweep_kernels<Cell, Precision>::backward(), backward_);
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
    shape.grid = dim3(unsigned(l.clusters * l.variant.cluster));
    shape.block = dim3(team_threads);
    shape.shared_bytes = l.variant.shared_bytes;
    shape.cluster = l.variant.cluster;
    return shape;
  }

  /// Chooses the fastest way of a pass by the model.
  template <class Arguments>
  void plan(std::string const& pass, std::vector<sweep_variant<Arguments>> const& variants,
            sweep_launch<Arguments>& chosen) {
    bool const backward = std::is_same_v<Arguments, backward_arguments>;
    bool found = false;
    int widest = 0;
    for (auto const& v : variants) {
      widest = (std::max)(widest, v.units * v.cluster);
      if (e_.hidden > v.units * v.cluster) continue;
      cudaFuncAttributes attributes{};
      auto const* const kernel = reinterpret_cast<void const*>(v.kernel);
      require_success(cudaFuncGetAttributes(&attributes, kernel), where);
      if (v.shared_bytes > most_shared_ - int(attributes.sharedSizeBytes)) continue;
      require_success(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), where);
      require_success(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, v.shared_bytes), where);
      sweep_launch<Arguments> l{};
      l.variant = v;
      l.clusters = 1;
      int const resident = resident_clusters(v.kernel, shape_of(l), where);
      if (resident == 0) continue;
      share_out_rows(l, resident);
      l.time = modelled_time(l, resident, backward);
      if (found && l.time >= chosen.time) continue;
      chosen = l;
      found = true;
    }
    if (!found)
      misfit_.reason = "no cluster of up to 16 blocks can run the sweep " + pass + ": R of hidden " +
                       std::to_string(e_.hidden) + " is " +
                       std::to_string(recurrent_gates * e_.hidden * e_.hidden * std::int64_t(sizeof(storage))) +
                       " bytes, in " + std::to_string(recurrent_gates) +
                       " row blocks; the widest kernel takes hidden " + std::to_string(widest);
  }

  /// The rows of the batch over as many clusters as the GPU holds, or over rounds of them where there are more.
  template <class Arguments>
  void share_out_rows(sweep_launch<Arguments>& l, int resident) const {
    cluster_team& t = l.team;
    t.hidden = std::int32_t(e_.hidden);
    t.batch = std::int32_t(e_.batch);
    t.rows = int((std::min)(std::int64_t(l.variant.rows), (e_.batch + resident - 1) / resident));
    l.clusters = int((e_.batch + t.rows - 1) / t.rows);
  }

  /// Microseconds a step on an H200, to choose by: the way of a row through product, sums, cell and exchange; a matrix
  /// instruction takes 2 cycles of a processor, a tile from shared memory 4; a further row makes it longer by its cells
  /// and packets, and a further 8 rows by what begins and ends a product. Fitted to hidden 256 and 512 with batches of
  /// 1 to 128, within 15 %. Rounds of clusters follow one another.
  template <class Arguments>
  double modelled_time(sweep_launch<Arguments> const& l, int resident, bool backward) const {
    double const width = l.variant.cluster * l.variant.units;
    double const tiles =
        double(recurrent_gates) * l.variant.units / fragment_rows * width * sizeof(storage) / fragment_bytes;
    double const in_shared = (std::max)(0.0, tiles - team_warps * resident_registers / 4);
    double const passes = (l.team.rows + operand_rows - 1) / operand_rows;
    double const product = passes * (2 * tiles + in_shared * tile_bytes / 128) / 1980;  // of a clock of 1980 MHz
    double const way = (backward ? 0.54 : 0.445) + 0.003 * l.variant.cluster * l.team.rows + 0.3 * (passes - 1);
    return (way + product) * double((l.clusters + resident - 1) / resident);
  }

  extents e_;
  int most_shared_ = 0;
  sweep_misfit misfit_;
  sweep_launch<forward_arguments> forward_;
  sweep_launch<backward_arguments> backward_;
};

}  // namespace rnnopt::detail

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "rnnopt/device/step_rehearsal.cuh"
#include "rnnopt/product_choice.hpp"

/// Which kernel runs the steps of a network.
///
/// A few tiles are compiled. The one with the least modelled time is chosen when a network is planned, from extents and
/// device alone, so that two plans give the same bits; or the fastest, if the plan may measure.

namespace rnnopt::detail {

/// Units of a tile of about `Columns` columns, `Blocks` of them a unit.
template <int Columns, int Blocks>
inline constexpr int units_of_tile = Columns / Blocks >= 64   ? 64
                                     : Columns / Blocks >= 32 ? 32
                                     : Columns / Blocks >= 16 ? 16
                                                              : 8;

/// The kernels that are compiled for a cell.
template <class Cell, class Precision>
struct step_kernels {
  using forward_arguments = step_arguments<Cell, Precision>;
  using backward_arguments = step_gradient_arguments<Cell, Precision>;
  static constexpr int recurrent_gates = cell_traits<Cell>::gates::recurrent_count;

  static std::vector<step_variant<forward_arguments>> forward() {
    return {forward_variant<16, 32>(), forward_variant<16, 64>(), forward_variant<32, 32>(),
            forward_variant<32, 64>(), forward_variant<64, 32>(), forward_variant<64, 64>()};
  }
  static std::vector<step_variant<backward_arguments>> backward() {
    return {backward_variant<16, 32>(), backward_variant<16, 64>(), backward_variant<32, 32>(),
            backward_variant<32, 64>(), backward_variant<64, 32>(), backward_variant<64, 64>()};
  }

 private:
  template <int Rows, int Columns>
  static step_variant<forward_arguments> forward_variant() {
    using tile =
        step_tile<Precision, Rows, units_of_tile<Columns, recurrent_gates>, recurrent_gates, weight_rows::along_k>;
    return variant_of<forward_arguments, tile>(step_kernel<Cell, Precision, tile>);
  }
  template <int Rows, int Columns>
  static step_variant<backward_arguments> backward_variant() {
    using tile = step_tile<Precision, Rows, Columns, 1, weight_rows::across_k>;
    return variant_of<backward_arguments, tile>(step_gradient_kernel<Cell, Precision, tile>);
  }
};

/// The kernels of a network's steps; only for cells with recurrent gates.
template <class Cell, class Precision>
class step_plan {
  using gates = typename cell_traits<Cell>::gates;
  using storage = typename Precision::storage;
  using forward_arguments = step_arguments<Cell, Precision>;
  using backward_arguments = step_gradient_arguments<Cell, Precision>;

 public:
  /// Chooses for the current device; `lanes`: how many steps are timed at once, where they are.
  step_plan(extents const& e, product_choice choice, int lanes) : e_(e) {
    char const* const where = "planning a step";
    int device = 0;
    require_success(cudaGetDevice(&device), where);
    require_success(cudaDeviceGetAttribute(&processors_, cudaDevAttrMultiProcessorCount, device), where);
    runs_ = has_dependent_launch() && e.steps > 0 && e.batch > 0 && e.hidden * std::int64_t(sizeof(storage)) % 16 == 0;
    if (!runs_) return;
    auto forward = launches(step_kernels<Cell, Precision>::forward(), e.hidden);
    auto backward = launches(step_kernels<Cell, Precision>::backward(), gates::recurrent_count * e.hidden);
    runs_ = !forward.empty() && !backward.empty();
    if (!runs_) return;
    if (choice != product_choice::heuristic) {
      step_rehearsal<Cell, Precision> const rehearsal(e, choice == product_choice::measured ? 1 : lanes);
      for (auto& l : forward) l.time = rehearsal.forward(l);
      for (auto& l : backward) l.time = rehearsal.backward(l);
    }
    auto const faster = [](auto const& a, auto const& b) { return a.time < b.time; };
    forward_ = *std::min_element(forward.begin(), forward.end(), faster);
    backward_ = *std::min_element(backward.begin(), backward.end(), faster);
  }

  /// Whether the kernels run on this device, for these extents; otherwise a step is a product and a pointwise kernel.
  bool runs() const { return runs_; }

  /// Enqueues recurrent product and cell of one step. `recurrent` is R; `follows_step`: see launch_step.
  void forward(cudaStream_t stream, pointwise_arguments<Cell, Precision> const& cell, storage const* recurrent,
               bool follows_step) const {
    launch_step(
        stream, forward_,
        forward_arguments{describe_step(forward_, cell.h_before, recurrent, e_.batch, e_.hidden, e_.hidden), cell},
        follows_step, "launching a step");
  }

  /// Enqueues the gradient of one step; `following` are the gate gradients of the following step, [batch,
  /// recurrent_gates, hidden].
  void backward(cudaStream_t stream, pointwise_gradient_arguments<Cell, Precision> const& cell,
                storage const* following, storage const* recurrent, bool follows_step) const {
    launch_step(stream, backward_,
                backward_arguments{describe_step(backward_, following, recurrent, e_.batch, e_.hidden,
                                                 gates::recurrent_count * e_.hidden),
                                   cell},
                follows_step, "launching a step's gradient");
  }

 private:
  /// What could be launched, each with its modelled time.
  template <class Arguments>
  std::vector<step_launch<Arguments>> launches(std::vector<step_variant<Arguments>> const& variants,
                                               std::int64_t k) const {
    std::vector<step_launch<Arguments>> result;
    std::int64_t const boxes = (k + box_k<storage> - 1) / box_k<storage>;
    for (auto const& v : variants) {
      if (v.rows > 16 && v.rows >= 2 * e_.batch) continue;  // half of the tile would be padding
      if (!allow_shared_memory(v)) continue;
      for (int cluster = 1; cluster <= 8 && cluster <= boxes; cluster *= 2)
        for (bool const fewer : {false, true}) {
          // Fewer stages: a processor has room for three blocks instead of two.
          step_launch<Arguments> l{v, cluster, fewer ? (std::max)(2, 2 * v.stages / 3) : v.stages, 0};
          if (fewer && l.stages >= (std::min)(std::int64_t(v.stages), (boxes + cluster - 1) / cluster)) continue;
          if (!can_be_resident(l, boxes)) continue;
          l.time = modelled_time(l, double((boxes + cluster - 1) / cluster), double(k));
          result.push_back(l);
        }
    }
    return result;
  }

  /// About microseconds, fitted to what rnnopt_step_kernels (bench) prints on an H200 for hidden 256 to 2048 and batch
  /// 1 to 128 in fp16 and fp32; the order counts, not the number. A launch, the cells of a thread, the sums of a
  /// cluster, the boxes of k that the busiest processor multiplies, and no less than it takes to read R.
  template <class Arguments>
  double modelled_time(step_launch<Arguments> const& l, double boxes, double k) const {
    double const area = l.variant.rows * l.columns();
    double const blocks_a_processor = double(l.blocks(e_.batch, e_.hidden)) / processors_;
    double const resident = std::ceil(blocks_a_processor);
    double const box = (std::max)(0.11 + 1.9e-5 * area, resident * (0.077 + 1.4e-4 * area)) * sizeof(storage) / 2;
    double const cells = 0.25 * l.variant.rows * l.variant.units / (l.cluster * (l.variant.threads - 32.0));
    // In fp32 more warps share k, and each has sums of its own.
    double const sums = l.splits() ? 0.87 + (uses_matrix_units<Precision> ? 1.5e-3 : 1.1e-2) * area * resident : 0;
    double const weights = k * double(e_.hidden) * l.variant.blocks * sizeof(storage);
    // A third block of a processor is worth its fewer stages where it spares a second round.
    bool const three = blocks_a_processor > 2 && blocks_a_processor <= 3;
    double const stage_penalty = (l.stages < l.variant.stages) != three ? 0.5 : 0;
    return 1.5 + stage_penalty + cells + sums + (std::max)(boxes * box, weights > 48e6 ? weights / 4.3e6 : 0.0);
  }

  extents e_;
  int processors_ = 0;
  bool runs_ = false;
  step_launch<forward_arguments> forward_;
  step_launch<backward_arguments> backward_;
};

}  // namespace rnnopt::detail

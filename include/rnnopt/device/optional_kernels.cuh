#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "rnnopt/device/step_plan.cuh"
#include "rnnopt/device/sweep/sweep_plan.cuh"
#include "rnnopt/device/tape_kernels.cuh"
#include "rnnopt/extents.hpp"
#include "rnnopt/schedule.hpp"

/// Kernels that are compiled only where a network's schedule announces them (see schedule.hpp): there are many, and
/// most networks run none.

namespace rnnopt::detail {

/// What a schedule announces.
template <bool FusedSteps, bool Elementwise, team Sweeps>
struct kernel_kinds {
  static constexpr bool fused_steps = FusedSteps;
  static constexpr bool elementwise = Elementwise;
  static constexpr team sweeps = Sweeps;
};
template <class Schedule>
using kinds_of = kernel_kinds<fused_steps_of<Schedule>(), elementwise_of<Schedule>(), sweeps_of<Schedule>()>;

/// Stands for a step_plan where there is nothing to plan.
struct no_step_plan {
  no_step_plan(extents const&, product_choice, int) {}
  bool runs() const { return false; }
};

/// The plan of a network's fused steps. A cell without recurrent gates has no product to fuse.
template <class Cell, class Precision, class Kinds>
using network_steps = std::conditional_t<Kinds::fused_steps && (Cell::gates::recurrent_count > 0),
                                         step_plan<Cell, Precision>, no_step_plan>;

/// What to do where sweeps cannot be run.
inline constexpr char const* misfit_hint =
    "schedules without sweeps need no room on the chip and run in every precision";

/// Stands for a plan of sweeps where there is nothing to plan, or nothing that could run.
template <class Precision, team Sweeps>
class no_sweep_plan {
 public:
  explicit no_sweep_plan(extents const& e) {
    if (e.steps == 0 || e.batch == 0) return;  // nothing is launched
    misfit_.code = errc::not_supported;
    if constexpr (Sweeps == team::grid) misfit_.reason = "sweeps of the whole GPU are not offered yet";
    else if constexpr (Sweeps == team::cluster && !uses_matrix_units<Precision>)
      misfit_.reason = "sweeps of a cluster multiply on the matrix units, which this precision does without";
  }
  sweep_misfit const& misfit() const { return misfit_; }

 private:
  sweep_misfit misfit_;
};

/// The plan of a network's sweeps. The sweep of a cell without recurrent gates has no R to keep on the chip: it is a
/// pointwise kernel a step.
template <class Cell, class Precision, class Kinds>
inline constexpr bool plans_sweeps = Kinds::sweeps == team::cluster &&
                                     (Cell::gates::recurrent_count > 0) && uses_matrix_units<Precision>;
template <class Cell, class Precision, class Kinds>
using network_sweeps =
    std::conditional_t<plans_sweeps<Cell, Precision, Kinds>, cluster_sweep_plan<Cell, Precision>,
                       no_sweep_plan<Precision, (Cell::gates::recurrent_count > 0) ? Kinds::sweeps : team::none>>;

/// Planes [batch, hidden] that a lane needs. Where there are any, the tapes of the cell have been recorded after it.
template <class Cell, bool Elementwise>
std::int64_t slots_of_a_lane() {
  if constexpr (Elementwise) return elementwise_slots<Cell>();
  else return 0;
}

}  // namespace rnnopt::detail

#pragma once

#include <cstdint>
#include <type_traits>

#include "rnnopt/device/step_plan.cuh"
#include "rnnopt/device/tape_kernels.cuh"
#include "rnnopt/extents.hpp"
#include "rnnopt/schedule.hpp"

/// Kernels that are compiled only where a network's schedule announces them (see schedule.hpp): there are many, and
/// most networks run none.

namespace rnnopt::detail {

/// Stands for a step_plan where there is nothing to plan.
struct no_step_plan {
  no_step_plan(extents const&, product_choice, int) {}
  bool runs() const { return false; }
};

/// The plan of a network's fused steps. A cell without recurrent gates has no product to fuse.
template <class Cell, class Precision, bool FusedSteps>
using network_steps =
    std::conditional_t<FusedSteps && (Cell::gates::recurrent_count > 0), step_plan<Cell, Precision>, no_step_plan>;

/// Planes [batch, hidden] that a lane needs. Where there are any, the tapes of the cell have been recorded after it.
template <class Cell, bool Elementwise>
std::int64_t slots_of_a_lane() {
  if constexpr (Elementwise) return elementwise_slots<Cell>();
  else return 0;
}

}  // namespace rnnopt::detail

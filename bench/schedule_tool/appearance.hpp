#pragma once

#include <string>

#include "rnnopt/recorder.hpp"

namespace schedule_tool {

/// How an operation is drawn; what runs for one gate or as many kernels is drawn like the whole.
struct appearance {
  char letter;
  char const* colour;
  char const* meaning;  ///< for the legend
};

/// @pre kind is neither signal nor wait
inline appearance const& appearance_of(rnnopt::operation_kind kind) {
  using op = rnnopt::operation_kind;
  static constexpr appearance input{'I', "#8ecae6", "product with W"}, recurrent{'R', "#ffb703", "product with R"},
      cell{'c', "#90be6d", "cell"}, step{'S', "#f4a261", "step in one kernel"},
      sweep{'P', "#e76f51", "steps in one kernel"}, weights{'W', "#cdb4db", "weight gradients"};
  switch (kind) {
    case op::input_product:
    case op::gate_input_product:
    case op::input_gradient:
    case op::gate_input_gradient:
      return input;
    case op::recurrent_product:
    case op::gate_recurrent_product:
    case op::recurrent_gradient:
    case op::gate_recurrent_gradient:
      return recurrent;
    case op::step:
    case op::step_gradient:
      return step;
    case op::sweep:
    case op::sweep_gradient:
      return sweep;
    case op::weight_gradient:
      return weights;
    default:
      return cell;
  }
}

}  // namespace schedule_tool

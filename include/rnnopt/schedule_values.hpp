#pragma once

#include "rnnopt/recorder.hpp"

/// What each operation of the schedule contract reads and writes: the tables behind the proof of a schedule.

namespace rnnopt::detail {

/// What operations leave for each other: one for each line and step (weight gradients: for each line), in as many
/// blocks as gates can be computed apart.
enum class value_kind {
  input_products,
  recurrent_products,
  states,
  gate_gradients,  ///< and what the cell itself passes back to the states before the step
  gradients_through_r,
  gradients_through_w,
  weight_gradients
};

/// Where an operation finds a value, seen from each of its steps.
enum class value_place {
  here,
  step_before,
  step_after,
  layer_below,       ///< both directions, at the same time
  layer_above,       ///< likewise
  direction_before,  ///< the same time of the same layer
  gate_before,       ///< the block before that of an operation of one gate
  buffer_before      ///< the layer below whose input products lie in the same memory
};

/// A value that an operation reads or writes at each of its steps.
struct value_access {
  operation_kind operation;
  value_kind value;
  value_place place;
  char const* why = nullptr;  ///< of a read, for messages: "reads its h"
};

/// The operation whose values another one reads and writes, for one gate, as several kernels or for several steps.
constexpr operation_kind whole_of(operation_kind kind) {
  using op = operation_kind;
  switch (kind) {
    case op::gate_input_product:
      return op::input_product;
    case op::gate_recurrent_product:
      return op::recurrent_product;
    case op::elementwise:
      return op::pointwise;
    case op::elementwise_gradient:
      return op::pointwise_gradient;
    case op::gate_recurrent_gradient:
      return op::recurrent_gradient;
    case op::gate_input_gradient:
      return op::input_gradient;
    // What a sweep passes on from step to step counts as given: no other operation may give it, too.
    case op::sweep:
      return op::step;
    case op::sweep_gradient:
      return op::step_gradient;
    default:
      return kind;
  }
}

inline constexpr value_access value_writes[] = {
    {operation_kind::input_product, value_kind::input_products, value_place::here},
    {operation_kind::recurrent_product, value_kind::recurrent_products, value_place::here},
    {operation_kind::pointwise, value_kind::states, value_place::here},
    {operation_kind::step, value_kind::recurrent_products, value_place::here},
    {operation_kind::step, value_kind::states, value_place::here},
    {operation_kind::pointwise_gradient, value_kind::gate_gradients, value_place::here},
    {operation_kind::step_gradient, value_kind::gradients_through_r, value_place::step_after},
    {operation_kind::step_gradient, value_kind::gate_gradients, value_place::here},
    {operation_kind::recurrent_gradient, value_kind::gradients_through_r, value_place::here},
    {operation_kind::input_gradient, value_kind::gradients_through_w, value_place::here},
    {operation_kind::weight_gradient, value_kind::weight_gradients, value_place::here},
};

/// What has to be there before an operation starts, or no longer needed.
inline constexpr value_access value_reads[] = {
    {operation_kind::input_product, value_kind::states, value_place::layer_below, "reads its output"},
    {operation_kind::input_product, value_kind::states, value_place::buffer_before, "overwrites the product it reads"},
    {operation_kind::recurrent_product, value_kind::states, value_place::step_before, "reads its h"},
    {operation_kind::pointwise, value_kind::input_products, value_place::here, "reads its product"},
    {operation_kind::pointwise, value_kind::recurrent_products, value_place::here, "reads its product"},
    {operation_kind::pointwise, value_kind::states, value_place::step_before, "reads its states"},
    {operation_kind::step, value_kind::input_products, value_place::here, "reads its product"},
    {operation_kind::step, value_kind::states, value_place::step_before, "reads its states"},
    {operation_kind::pointwise_gradient, value_kind::gradients_through_r, value_place::step_after, "reads its dh"},
    {operation_kind::pointwise_gradient, value_kind::gate_gradients, value_place::step_after,
     "reads its state gradients"},
    {operation_kind::pointwise_gradient, value_kind::gradients_through_w, value_place::layer_above, "reads its dy"},
    {operation_kind::step_gradient, value_kind::gate_gradients, value_place::step_after, "reads its gate gradients"},
    {operation_kind::step_gradient, value_kind::gradients_through_w, value_place::layer_above, "reads its dy"},
    {operation_kind::recurrent_gradient, value_kind::gate_gradients, value_place::here, "reads its gate gradients"},
    {operation_kind::recurrent_gradient, value_kind::gradients_through_r, value_place::gate_before,
     "adds to its result"},
    {operation_kind::input_gradient, value_kind::gate_gradients, value_place::here, "reads its gate gradients"},
    {operation_kind::input_gradient, value_kind::gradients_through_w, value_place::gate_before, "adds to its result"},
    {operation_kind::input_gradient, value_kind::gradients_through_w, value_place::direction_before,
     "adds to its result"},
    {operation_kind::weight_gradient, value_kind::gate_gradients, value_place::here, "reads its gate gradients"},
};

}  // namespace rnnopt::detail

#pragma once

#include <cstdint>

#include "rnnopt/device/pointwise.cuh"
#include "rnnopt/device/pointwise_gradient.cuh"
#include "rnnopt/tape.hpp"

/// What pointwise.cuh and pointwise_gradient.cuh do, with one kernel for each operation of the cell: table 1, row 0
/// of Appleyard et al. 2016, there to be measured against.
///
/// Intermediate values are planes [batch, hidden] of the accumulate type, in the caller's `slots`. An operand is read
/// from where it is, and a result that is an output is stored in the same kernel. Cost: one launch per operation, and
/// per unit two to four accesses each, which at the sizes of one step stay in L2.

namespace rnnopt::detail {

enum class element_type {
  storage,
  saturated_storage,  ///< written only, see saturate()
  accumulate,
  state
};

template <class Precision>
struct elementwise_operand {
  using accumulate = typename Precision::accumulate;

  void const* data;  ///< null: the constant
  std::int64_t row;  ///< elements from one row of the batch to the next; 0: all rows read the same
  element_type type;
  accumulate constant;

  __device__ accumulate load(std::int64_t batch_row, std::int64_t unit) const {
    std::int64_t const at = batch_row * row + unit;
    if (data == nullptr) return constant;
    if (type == element_type::accumulate) return static_cast<accumulate const*>(data)[at];
    if (type == element_type::state)
      return static_cast<accumulate>(static_cast<typename Precision::state const*>(data)[at]);
    return static_cast<accumulate>(static_cast<typename Precision::storage const*>(data)[at]);
  }
};

template <class Precision>
struct elementwise_result {
  using storage = typename Precision::storage;
  using accumulate = typename Precision::accumulate;
  using state = typename Precision::state;

  void* data = nullptr;  ///< null: not wanted
  std::int64_t row = 0;
  element_type type = element_type::accumulate;

  __device__ void store(std::int64_t batch_row, std::int64_t unit, accumulate value) const {
    std::int64_t const at = batch_row * row + unit;
    if (data == nullptr) return;
    if (type == element_type::accumulate) static_cast<accumulate*>(data)[at] = value;
    else if (type == element_type::state) static_cast<state*>(data)[at] = static_cast<state>(value);
    else if (type == element_type::storage) static_cast<storage*>(data)[at] = static_cast<storage>(value);
    else static_cast<storage*>(data)[at] = saturate<storage>(value);
  }
};

template <class Precision>
struct elementwise_arguments {
  elementwise_operand<Precision> operands[3];
  elementwise_result<Precision> slot;
  elementwise_result<Precision> outputs[2];
  std::int32_t batch;
  std::int32_t hidden;
  std::uint32_t tiles;
};

template <arithmetic Kind, class Precision>
__global__ void __launch_bounds__(128) elementwise_kernel(elementwise_arguments<Precision> const a) {
  std::int64_t const unit = std::int64_t(blockIdx.x % a.tiles) * blockDim.x + threadIdx.x;
  std::int64_t const row = std::int64_t(blockIdx.x / a.tiles) * blockDim.y + threadIdx.y;
  if (row >= a.batch || unit >= a.hidden) return;
  typename Precision::accumulate x[3] = {};
#pragma unroll
  for (int i = 0; i < operand_count(Kind); ++i) x[i] = a.operands[i].load(row, unit);
  typename Precision::accumulate const value = apply<Kind>(x[0], x[1], x[2]);
  a.slot.store(row, unit, value);
  a.outputs[0].store(row, unit, value);
  a.outputs[1].store(row, unit, value);
}

// Where the places of a forward tape are.

template <class Cell, class Precision>
elementwise_operand<Precision> input_at(pointwise_arguments<Cell, Precision> const& a, place const& p) {
  using gates = typename Cell::gates;
  std::int64_t const hidden = a.hidden;
  switch (p.what) {
    case quantity::input_product:
      return {a.input_products + p.index * hidden, gates::input_count * hidden, element_type::accumulate, 0};
    case quantity::recurrent_product:
      return {a.recurrent_products + p.index * hidden, gates::recurrent_count * hidden, element_type::accumulate, 0};
    case quantity::bias:
      return {a.bias + p.index * hidden, 0, element_type::storage, 0};
    case quantity::unit:
      return {a.units + p.index * hidden, 0, element_type::storage, 0};
    default:  // a state
      if (p.index == 0) return {a.h_before, hidden, element_type::storage, 0};
      return {a.before[p.index - 1], hidden, element_type::state, 0};
  }
}

template <class Cell, class Precision>
void find_outputs(pointwise_arguments<Cell, Precision> const& a, place const& p,
                  elementwise_result<Precision> (&outputs)[2]) {
  std::int64_t const hidden = a.hidden;
  if (p.what == quantity::preactivation) {
    if (a.saved != nullptr)
      outputs[0] = {a.saved + p.index * hidden, Cell::gates::count * hidden, element_type::saturated_storage};
  } else if (p.index == 0) {  // the states after the step
    outputs[0] = {a.h_after, hidden, element_type::storage};
    outputs[1] = {a.y, a.y_row, element_type::storage};
  } else {
    outputs[0] = {a.after[p.index - 1], hidden, element_type::state};
  }
}

// Where the places of a backward tape are.

template <class Cell, class Precision>
elementwise_operand<Precision> input_at(pointwise_gradient_arguments<Cell, Precision> const& a, place const& p) {
  std::int64_t const hidden = a.hidden, plane = a.batch * hidden;
  switch (p.what) {
    case quantity::preactivation:
      return {a.saved + p.index * hidden, Cell::gates::count * hidden, element_type::storage, 0};
    case quantity::unit:
      return {a.units + p.index * hidden, 0, element_type::storage, 0};
    case quantity::state_gradient:
      return {a.state_gradients + p.index * plane, hidden, element_type::accumulate, 0};
    case quantity::recurrent_gradient:
      return {a.recurrent_gradients, hidden, element_type::accumulate, 0};
    case quantity::output_gradient:
      return {a.dy, a.dy_row, element_type::storage, 0};
    case quantity::unit_gradient:
      return {a.unit_gradients + p.index * plane, hidden, element_type::accumulate, 0};
    default:  // a state
      if (p.index == 0) return {a.h_before, hidden, element_type::storage, 0};
      return {a.before[p.index - 1], hidden, element_type::state, 0};
  }
}

template <class Cell, class Precision>
void find_outputs(pointwise_gradient_arguments<Cell, Precision> const& a, place const& p,
                  elementwise_result<Precision> (&outputs)[2]) {
  using gates = typename Cell::gates;
  std::int64_t const hidden = a.hidden, plane = a.batch * hidden;
  if (p.what == quantity::gate_gradient) {
    if (int const block = gates::input_block(p.index); block >= 0)
      outputs[0] = {a.input_gate_gradients + block * hidden, gates::input_count * hidden, element_type::storage};
    if (int const block = gates::recurrent_block(p.index); block >= 0 && !gates::same_rows)
      outputs[1] = {a.recurrent_gate_gradients + block * hidden, gates::recurrent_count * hidden,
                    element_type::storage};
  } else {
    auto* const base = p.what == quantity::state_gradient ? a.state_gradients : a.unit_gradients;
    outputs[0] = {base + p.index * plane, hidden, element_type::accumulate};
  }
}

/// Enqueues the operations of a tape; an operation without a slot whose output is not wanted is left out.
template <class Precision, class Arguments>
void launch_tape(cudaStream_t stream, tape const& program, Arguments const& a, typename Precision::accumulate* slots) {
  using accumulate = typename Precision::accumulate;
  pointwise_grid const g(a.batch, a.hidden);
  std::int64_t const hidden = a.hidden, plane = a.batch * hidden;
  for (tape_operation const& step : program.operations) {
    elementwise_arguments<Precision> arguments{};
    for (int i = 0; i < operand_count(step.kind); ++i) {
      place const& p = step.operands[i];
      if (p.what == quantity::constant)
        arguments.operands[i] = {nullptr, 0, element_type::accumulate, static_cast<accumulate>(p.value)};
      else if (p.what == quantity::slot)
        arguments.operands[i] = {slots + p.index * plane, hidden, element_type::accumulate, 0};
      else arguments.operands[i] = input_at(a, p);
    }
    if (step.slot >= 0) arguments.slot = {slots + step.slot * plane, hidden, element_type::accumulate};
    if (step.output) find_outputs(a, *step.output, arguments.outputs);
    if (step.slot < 0 && arguments.outputs[0].data == nullptr && arguments.outputs[1].data == nullptr) continue;
    arguments.batch = a.batch;
    arguments.hidden = a.hidden;
    arguments.tiles = g.tiles;
    with_operation(step.kind, [&](auto kind) {
      elementwise_kernel<kind.value, Precision><<<g.grid, g.block, 0, stream>>>(arguments);
    });
    require_success(cudaGetLastError(), "launching elementwise");
  }
}

/// As launch_pointwise; `slots` are elementwise_slots<Cell>() planes [batch, hidden].
template <class Cell, class Precision>
void launch_elementwise(cudaStream_t stream, pointwise_arguments<Cell, Precision> const& a,
                        typename Precision::accumulate* slots) {
  launch_tape<Precision>(stream, forward_tape<Cell>(a.bias != nullptr), a, slots);
}

/// As launch_pointwise_gradient; `slots` are elementwise_slots<Cell>() planes [batch, hidden].
template <class Cell, class Precision>
void launch_elementwise_gradient(cudaStream_t stream, pointwise_gradient_arguments<Cell, Precision> const& a,
                                 typename Precision::accumulate* slots) {
  launch_tape<Precision>(stream, backward_tape<Cell>({a.recurrent_gradients != nullptr, a.dy != nullptr, !a.first}), a,
                         slots);
}

}  // namespace rnnopt::detail

#pragma once

#include <cstddef>
#include <cstdint>

#include "rnnopt/arguments.hpp"
#include "rnnopt/cell.hpp"
#include "rnnopt/schedule.hpp"
#include "rnnopt/workspace.hpp"

/// Resolves (line, time) to pointers into the caller's buffers; shared by the host and the GPU executor.

namespace rnnopt::detail {

/// A run of consecutive times.
struct time_range {
  std::int64_t first;
  std::int64_t count;
};

/// Time of a step: a reversed line's step 0 is the last time.
constexpr std::int64_t time_of(extents const& e, line const& l, std::int64_t step) {
  return l.direction == 0 ? step : e.steps - 1 - step;
}
/// Times of a run of steps.
constexpr time_range times_of(extents const& e, line const& l, std::int64_t first_step, std::int64_t steps) {
  return {l.direction == 0 ? first_step : e.steps - first_step - steps, steps};
}
/// Slot that holds the states after / before a time (see reserve_layout).
constexpr std::int64_t slot_after(line const& l, std::int64_t time) { return l.direction == 0 ? time + 1 : time; }
constexpr std::int64_t slot_before(line const& l, std::int64_t time) { return l.direction == 0 ? time : time + 1; }

template <class T, class Byte>
T* at(Byte* base, std::int64_t offset, std::int64_t element) {
  return reinterpret_cast<T*>(base + offset) + element;
}

constexpr std::int64_t index_of(extents const& e, line const& l) { return l.layer * e.directions + l.direction; }

/// Pointers of a forward run.
template <class Cell, class Precision>
struct forward_buffers {
  using storage = typename Precision::storage;
  using accumulate = typename Precision::accumulate;
  using state = typename Precision::state;

  extents e;
  cell_shape cell;
  forward_layout workspace;
  reserve_layout reserve;
  bool training;
  std::byte* workspace_base;
  std::byte* reserve_base;

  forward_buffers(extents const& network, network_layouts const& layouts, forward_arguments<Cell, Precision> const& a,
                  bool for_training)
      : e(network),
        cell(shape_of<Cell>()),
        workspace(for_training ? layouts.training : layouts.inference),
        reserve(layouts.reserve),
        training(for_training),
        workspace_base(static_cast<std::byte*>(a.workspace.data)),
        reserve_base(static_cast<std::byte*>(a.reserve.data)) {}

  std::int64_t plane() const { return e.batch * e.hidden; }

  /// Output h of a line in a slot, [batch, hidden]; slots are contiguous.
  storage* h(line const& l, std::int64_t slot) const {
    std::int64_t const element = (index_of(e, l) * (e.steps + 1) + slot) * plane();
    return training ? at<storage>(reserve_base, reserve.h, element) : at<storage>(workspace_base, workspace.h, element);
  }
  /// State s >= 1 of a line in a slot; inference keeps only one.
  state* other(int s, line const& l, std::int64_t slot) const {
    std::size_t const i = static_cast<std::size_t>(s - 1);
    return training ? at<state>(reserve_base, reserve.others[i], (index_of(e, l) * (e.steps + 1) + slot) * plane())
                    : at<state>(workspace_base, workspace.others[i], index_of(e, l) * plane());
  }
  /// W x of a line from a time on, [time, batch, input_gates, hidden].
  accumulate* input_products(line const& l, std::int64_t time) const {
    std::int64_t const slot = (l.layer % workspace.concurrent_layers) * e.directions + l.direction;
    return at<accumulate>(workspace_base, workspace.input_products,
                          (slot * e.steps + time) * plane() * cell.input_gates);
  }
  /// R h of a line, [batch, recurrent_gates, hidden].
  accumulate* recurrent_products(line const& l) const {
    return at<accumulate>(workspace_base, workspace.recurrent_products,
                          index_of(e, l) * plane() * cell.recurrent_gates);
  }
  /// Saved pre-activations of a line at a time, [batch, gates, hidden]; null at inference.
  storage* preactivations(line const& l, std::int64_t time) const {
    return training ? at<storage>(reserve_base, reserve.preactivations,
                                  (index_of(e, l) * e.steps + time) * plane() * cell.gates)
                    : nullptr;
  }
};

/// Pointers of a backward run.
template <class Cell, class Precision>
struct backward_buffers {
  using storage = typename Precision::storage;
  using accumulate = typename Precision::accumulate;
  using state = typename Precision::state;

  extents e;
  cell_shape cell;
  backward_layout workspace;
  reserve_layout reserve;
  std::byte* workspace_base;
  std::byte const* reserve_base;

  backward_buffers(extents const& network, network_layouts const& layouts, backward_arguments<Cell, Precision> const& a)
      : e(network),
        cell(shape_of<Cell>()),
        workspace(layouts.backward),
        reserve(layouts.reserve),
        workspace_base(static_cast<std::byte*>(a.workspace.data)),
        reserve_base(static_cast<std::byte const*>(a.reserve.data)) {}

  std::int64_t plane() const { return e.batch * e.hidden; }

  storage const* h(line const& l, std::int64_t slot) const {
    return at<storage const>(reserve_base, reserve.h, (index_of(e, l) * (e.steps + 1) + slot) * plane());
  }
  state const* other(int s, line const& l, std::int64_t slot) const {
    return at<state const>(reserve_base, reserve.others[static_cast<std::size_t>(s - 1)],
                           (index_of(e, l) * (e.steps + 1) + slot) * plane());
  }
  storage const* preactivations(line const& l, std::int64_t time) const {
    return at<storage const>(reserve_base, reserve.preactivations,
                             (index_of(e, l) * e.steps + time) * plane() * cell.gates);
  }
  /// Gate gradients from a time on, [time, batch, input_gates, hidden], rows as in W.
  storage* input_gate_gradients(line const& l, std::int64_t time) const {
    return at<storage>(workspace_base, workspace.input_gate_gradients,
                       (index_of(e, l) * e.steps + time) * plane() * cell.input_gates);
  }
  /// Gate gradients from a time on, [time, batch, recurrent_gates, hidden], rows as in R.
  storage* recurrent_gate_gradients(line const& l, std::int64_t time) const {
    return at<storage>(workspace_base, workspace.recurrent_gate_gradients,
                       (index_of(e, l) * e.steps + time) * plane() * cell.recurrent_gates);
  }
  /// Gradient of state s that the cell itself passes back, [batch, hidden].
  accumulate* state_gradients(line const& l, int s) const {
    return at<accumulate>(workspace_base, workspace.state_gradients, (index_of(e, l) * cell.states + s) * plane());
  }
  /// Gradient of h that comes back through R, [batch, hidden].
  accumulate* recurrent_gradients(line const& l) const {
    return at<accumulate>(workspace_base, workspace.recurrent_gradients, index_of(e, l) * plane());
  }
  /// Gradient of unit parameter u, per row, [batch, hidden].
  accumulate* unit_gradients(line const& l, int u) const {
    return at<accumulate>(workspace_base, workspace.unit_gradients,
                          (index_of(e, l) * cell.unit_parameters + u) * plane());
  }
  /// dy of a layer below the top, from a time on, [time, batch, directions * hidden].
  storage* layer_gradients(std::int64_t layer, std::int64_t time) const {
    return at<storage>(workspace_base, workspace.layer_gradients, (layer * e.steps + time) * plane() * e.directions);
  }
};

}  // namespace rnnopt::detail

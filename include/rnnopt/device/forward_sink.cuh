#pragma once

#include <cstdint>

#include "rnnopt/buffers.hpp"
#include "rnnopt/device/copy.cuh"
#include "rnnopt/device/optional_kernels.cuh"
#include "rnnopt/device/pointwise.cuh"
#include "rnnopt/device/products.cuh"
#include "rnnopt/device/sink_base.cuh"

namespace rnnopt::detail {

/// Enqueues a schedule's forward operations on streams; Kinds: what the schedule announces.
template <class Cell, class Precision, class Kinds>
class cuda_forward_sink : public cuda_sink_base {
  using traits = cell_traits<Cell>;
  using gates = typename traits::gates;
  using storage = typename Precision::storage;
  using accumulate = typename Precision::accumulate;
  using state = typename Precision::state;

 public:
  cuda_forward_sink(cudaStream_t stream, lane_set const& lanes, network_products<Precision> const& products,
                    network_steps<Cell, Precision, Kinds> const& steps,
                    network_sweeps<Cell, Precision, Kinds> const& sweeps, packed_layout const& packed,
                    forward_arguments<Cell, Precision> const& arguments,
                    forward_buffers<Cell, Precision> const& buffers)
      : cuda_sink_base(stream, lanes, buffers.workspace_base, buffers.workspace.product_scratch),
        products_(products),
        steps_(steps),
        sweeps_(sweeps),
        a_(arguments),
        b_(buffers),
        e_(buffers.e),
        weights_(e_, packed, arguments.weights, arguments.packed) {}

  /// Puts the initial states (zeros where null) into their slots, then lets the side lanes start.
  void begin() {
    std::int64_t const plane = b_.plane(), count = e_.lines() * plane;
    launch_copy<storage, storage, accumulate>(
        stream(), {b_.h({0, 0}, 0), a_.initial.h, nullptr, (e_.steps + 1) * plane, plane, 0, plane, count});
    for (int s = 1; s < traits::states; ++s)
      launch_copy<state, state, accumulate>(stream(), {b_.other(s, {0, 0}, 0), a_.initial.others[std::size_t(s - 1)],
                                                       nullptr, other_stride(), plane, 0, plane, count});
    lanes().fork(stream());
  }

  /// Joins the side lanes, then hands out the final states.
  void end() {
    lanes().join(stream());
    std::int64_t const plane = b_.plane(), count = e_.lines() * plane;
    if (a_.final.h != nullptr)
      launch_copy<storage, storage, accumulate>(
          stream(), {a_.final.h, b_.h({0, 0}, e_.steps), nullptr, plane, (e_.steps + 1) * plane, 0, plane, count});
    for (int s = 1; s < traits::states; ++s)
      if (state* const to = a_.final.others[std::size_t(s - 1)]; to != nullptr)
        launch_copy<state, state, accumulate>(
            stream(), {to, b_.other(s, {0, 0}, e_.steps), nullptr, plane, other_stride(), 0, plane, count});
  }

  void input_product(int lane, line l, std::int64_t first_step, std::int64_t steps) {
    if (gates::input_count > 0) multiply_input(lane, l, first_step, steps, 0, false);
  }
  void gate_input_product(int lane, line l, std::int64_t first_step, std::int64_t steps, std::int64_t gate) {
    multiply_input(lane, l, first_step, steps, gate, true);
  }
  void recurrent_product(int lane, line l, std::int64_t step) {
    if (gates::recurrent_count > 0) multiply_recurrent(lane, l, step, 0, false);
  }
  void gate_recurrent_product(int lane, line l, std::int64_t step, std::int64_t gate) {
    multiply_recurrent(lane, l, step, gate, true);
  }

  void pointwise(int lane, line l, std::int64_t step) {
    bool const early = may_begin_early(lane);
    launch_pointwise(stream(lane), cell_of(l, step), early);
  }

  void elementwise(int lane, line l, std::int64_t step) {
    if constexpr (Kinds::elementwise) {
      auto* const slots = at<accumulate>(b_.workspace_base, b_.workspace.elementwise_slots,
                                         lane * slots_of_a_lane<Cell, Kinds::elementwise>() * b_.plane());
      launch_elementwise(stream(lane), cell_of(l, step), slots);
    } else {
      fail_unannounced("elementwise", elementwise_declaration);
    }
  }

  /// A product and a pointwise kernel where the fused one does not run.
  void step(int lane, line l, std::int64_t step) {
    if constexpr (!Kinds::fused_steps) {
      fail_unannounced("step", fused_steps_declaration);
    } else if constexpr (gates::recurrent_count == 0) {
      pointwise(lane, l, step);
    } else {
      pointwise_arguments<Cell, Precision> const cell = cell_of(l, step);
      storage const* const r = a_.weights[index_of(e_, l)].recurrent;
      if (steps_.runs()) {
        step_place const place = place_step(lane, l, step, step - 1);
        steps_.forward(place.stream, cell, r, place.follows_step);
      } else {
        recurrent_product(lane, l, step);
        pointwise(lane, l, step);
      }
    }
  }

  /// One kernel for all of these steps; where there is no R, a pointwise kernel a step.
  void sweep(int lane, line l, std::int64_t first_step, std::int64_t steps) {
    if constexpr (Kinds::sweeps == team::none) {
      fail_unannounced("sweep", sweeps_declaration);
    } else if constexpr (plans_sweeps<Cell, Precision, Kinds>) {
      std::int64_t const rows = l.direction == 0 ? e_.batch : -e_.batch;
      cluster_sweep_arguments<Cell, Precision> a{};
      a.cell = cell_of(l, first_step);
      a.recurrent = a_.weights[index_of(e_, l)].recurrent;
      a.steps = std::int32_t(steps);
      a.step_rows = rows;
      a.state_rows = b_.training ? rows : 0;  // inference keeps the other states in one place
      sweeps_.forward(stream(lane), a);
    } else {
      for (std::int64_t i = 0; i < steps; ++i) pointwise(lane, l, first_step + i);
    }
  }

 private:
  /// What the cell of a step reads and writes.
  pointwise_arguments<Cell, Precision> cell_of(line const& l, std::int64_t step) const {
    std::int64_t const time = time_of(e_, l, step), before = slot_before(l, time), after = slot_after(l, time);
    line_weights<storage const> const& weights = a_.weights[index_of(e_, l)];
    pointwise_arguments<Cell, Precision> p{};
    p.input_products = b_.input_products(l, time);
    p.recurrent_products = b_.recurrent_products(l);
    p.bias = weights.bias;
    p.units = weights.units;
    p.h_before = b_.h(l, before);
    p.h_after = b_.h(l, after);
    for (int s = 1; s < traits::states; ++s) {
      p.before[s - 1] = b_.other(s, l, before);
      p.after[s - 1] = b_.other(s, l, after);
    }
    p.y_row = e_.directions * e_.hidden;
    if (l.layer == e_.layers - 1 && a_.y != nullptr) p.y = a_.y + time * e_.batch * p.y_row + l.direction * e_.hidden;
    p.saved = b_.preactivations(l, time);
    p.batch = std::int32_t(e_.batch);
    p.hidden = std::int32_t(e_.hidden);
    return p;
  }

  /// W x into the columns of one gate, or of all.
  void multiply_input(int lane, line const& l, std::int64_t first_step, std::int64_t steps, std::int64_t gate,
                      bool one_gate) {
    time_range const times = times_of(e_, l, first_step, steps);
    line const below{l.layer - 1, 0};
    storage const* const x =
        l.layer == 0 ? a_.x + times.first * e_.batch * e_.input : b_.h(below, slot_after(below, times.first));
    products_[{product_kind::input, l.layer == 0, steps, one_gate}].run(
        stream(lane), x, weights_.input(l, gate), b_.input_products(l, times.first) + gate * e_.hidden, false,
        scratch(lane));
  }

  /// R h into the columns of one gate, or of all.
  void multiply_recurrent(int lane, line const& l, std::int64_t step, std::int64_t gate, bool one_gate) {
    products_[{product_kind::recurrent, false, 1, one_gate}].run(
        stream(lane), b_.h(l, slot_before(l, time_of(e_, l, step))), weights_.recurrent(l, gate),
        b_.recurrent_products(l) + gate * e_.hidden, false, scratch(lane));
    enqueued_product(lane);
  }

  /// Distance between the lines of a state other than h: inference keeps one slot a line.
  std::int64_t other_stride() const { return b_.training ? (e_.steps + 1) * b_.plane() : b_.plane(); }

  network_products<Precision> const& products_;
  network_steps<Cell, Precision, Kinds> const& steps_;
  network_sweeps<Cell, Precision, Kinds> const& sweeps_;
  forward_arguments<Cell, Precision> const& a_;
  forward_buffers<Cell, Precision> const& b_;
  extents const& e_;
  product_weights<storage> weights_;
};

}  // namespace rnnopt::detail

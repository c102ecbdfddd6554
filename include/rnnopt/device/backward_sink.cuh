#pragma once

#include <cstdint>

#include "rnnopt/buffers.hpp"
#include "rnnopt/device/column_sum.cuh"
#include "rnnopt/device/copy.cuh"
#include "rnnopt/device/optional_kernels.cuh"
#include "rnnopt/device/pointwise_gradient.cuh"
#include "rnnopt/device/products.cuh"
#include "rnnopt/device/sink_base.cuh"

namespace rnnopt::detail {

/// Enqueues a schedule's backward operations on streams; Kinds: what the schedule announces.
template <class Cell, class Precision, class Kinds>
class cuda_backward_sink : public cuda_sink_base {
  using traits = cell_traits<Cell>;
  using gates = typename traits::gates;
  using storage = typename Precision::storage;
  using accumulate = typename Precision::accumulate;
  using state = typename Precision::state;

 public:
  cuda_backward_sink(cudaStream_t stream, lane_set const& lanes, network_products<Precision> const& products,
                     network_steps<Cell, Precision, Kinds> const& steps,
                     network_sweeps<Cell, Precision, Kinds> const& sweeps, packed_layout const& packed,
                     backward_arguments<Cell, Precision> const& arguments,
                     backward_buffers<Cell, Precision> const& buffers)
      : cuda_sink_base(stream, lanes, buffers.workspace_base, buffers.workspace.product_scratch),
        products_(products),
        steps_(steps),
        sweeps_(sweeps),
        a_(arguments),
        b_(buffers),
        e_(buffers.e),
        weights_(e_, packed, arguments.weights, arguments.packed) {}

  /// Starts the gradients that are carried backward, then lets the side lanes start.
  void begin(gradient_request wanted) {
    if (wanted.data) {
      std::int64_t const plane = b_.plane(), count = e_.lines() * plane;
      launch_copy<accumulate, storage, accumulate>(stream(), {b_.state_gradients({0, 0}, 0), a_.final_gradient.h,
                                                              nullptr, traits::states * plane, plane, 0, plane, count});
      for (int s = 1; s < traits::states; ++s)
        launch_copy<accumulate, state, accumulate>(
            stream(), {b_.state_gradients({0, 0}, s), a_.final_gradient.others[std::size_t(s - 1)], nullptr,
                       traits::states * plane, plane, 0, plane, count});
    }
    lanes().fork(stream());
  }

  /// Joins the side lanes, then hands out the gradients of the initial states.
  void end(gradient_request wanted) {
    lanes().join(stream());
    if (!wanted.data) return;
    std::int64_t const plane = b_.plane(), count = e_.lines() * plane;
    bool const through_r = e_.steps > 0 && gates::recurrent_count > 0;
    if (a_.initial_gradient.h != nullptr)
      launch_copy<storage, accumulate, accumulate>(stream(), {a_.initial_gradient.h, b_.state_gradients({0, 0}, 0),
                                                              through_r ? b_.recurrent_gradients({0, 0}) : nullptr,
                                                              plane, traits::states * plane, plane, plane, count});
    for (int s = 1; s < traits::states; ++s)
      if (state* const to = a_.initial_gradient.others[std::size_t(s - 1)]; to != nullptr)
        launch_copy<state, accumulate, accumulate>(
            stream(), {to, b_.state_gradients({0, 0}, s), nullptr, plane, traits::states * plane, 0, plane, count});
  }

  void pointwise_gradient(int lane, line l, std::int64_t step) {
    bool const early = may_begin_early(lane);
    launch_pointwise_gradient(stream(lane), cell_of(l, step), early);
  }

  void elementwise_gradient(int lane, line l, std::int64_t step) {
    if constexpr (Kinds::elementwise) {
      auto* const slots = at<accumulate>(b_.workspace_base, b_.workspace.elementwise_slots,
                                         lane * slots_of_a_lane<Cell, Kinds::elementwise>() * b_.plane());
      launch_elementwise_gradient(stream(lane), cell_of(l, step), slots);
    } else {
      fail_unannounced("elementwise_gradient", elementwise_declaration);
    }
  }

  /// A product and a pointwise kernel where the fused one does not run; the latter alone where nothing comes through R.
  void step_gradient(int lane, line l, std::int64_t step) {
    if constexpr (!Kinds::fused_steps) {
      fail_unannounced("step_gradient", fused_steps_declaration);
    } else if constexpr (gates::recurrent_count == 0) {
      pointwise_gradient(lane, l, step);
    } else {
      if (step == e_.steps - 1) return pointwise_gradient(lane, l, step);
      storage const* const following = b_.recurrent_gate_gradients(l, time_of(e_, l, step + 1));
      storage const* const r = a_.weights[index_of(e_, l)].recurrent;
      if (steps_.runs()) {
        step_place const place = place_step(lane, l, step, step + 1);
        steps_.backward(place.stream, cell_of(l, step), following, r, place.follows_step);
      } else {
        recurrent_gradient(lane, l, step + 1);
        pointwise_gradient(lane, l, step);
      }
    }
  }

  /// A pointwise kernel a step where there is no R.
  void sweep_gradient(int lane, line l, std::int64_t first_step, std::int64_t steps) {
    if constexpr (Kinds::sweeps == team::none) {
      fail_unannounced("sweep_gradient", sweeps_declaration);
    } else if constexpr (plans_sweeps<Cell, Precision, Kinds>) {
      std::int64_t const end = first_step + steps;
      cluster_sweep_gradient_arguments<Cell, Precision> a{};
      a.cell = cell_of(l, end - 1);
      a.recurrent = a_.weights[index_of(e_, l)].recurrent;
      a.following = end < e_.steps ? b_.recurrent_gate_gradients(l, time_of(e_, l, end)) : nullptr;
      a.steps = std::int32_t(steps);
      a.step_rows = l.direction == 0 ? -e_.batch : e_.batch;
      sweeps_.backward(stream(lane), a);
    } else {
      for (std::int64_t i = steps - 1; i >= 0; --i) pointwise_gradient(lane, l, first_step + i);
    }
  }

  void recurrent_gradient(int lane, line l, std::int64_t step) {
    if (gates::recurrent_count > 0) multiply_recurrent(lane, l, step, 0, false);
  }
  void gate_recurrent_gradient(int lane, line l, std::int64_t step, std::int64_t gate) {
    multiply_recurrent(lane, l, step, gate, true);
  }

  void input_gradient(int lane, line l, std::int64_t first_step, std::int64_t steps) {
    if (gates::input_count > 0) return multiply_input(lane, l, first_step, steps, 0, false);
    storage* const out = input_gradients(l, first_step, steps);
    std::int64_t const count = steps * e_.batch * e_.input_of(l.layer);
    if (out != nullptr)
      require_success(cudaMemsetAsync(out, 0, std::size_t(count) * sizeof(storage), stream(lane)),
                      "clearing a gradient");
  }
  void gate_input_gradient(int lane, line l, std::int64_t first_step, std::int64_t steps, std::int64_t gate) {
    multiply_input(lane, l, first_step, steps, gate, true);
  }

  void weight_gradient(int lane, line l) {
    line_weights<accumulate> const& out = a_.gradients[index_of(e_, l)];
    bool const accumulates = a_.mode == gradient_mode::accumulate;
    std::int64_t const hidden = e_.hidden, rows = e_.steps * e_.batch;
    std::int64_t const input_width = gates::input_count * hidden, recurrent_width = gates::recurrent_count * hidden;
    line const below{l.layer - 1, 0};
    if (out.input != nullptr && gates::input_count > 0)
      products_[{product_kind::input_weights, l.layer == 0, e_.steps}].run(
          stream(lane), b_.input_gate_gradients(l, 0), l.layer == 0 ? a_.x : b_.h(below, slot_after(below, 0)),
          out.input, accumulates, scratch(lane));
    if (out.recurrent != nullptr && gates::recurrent_count > 0)
      products_[{product_kind::recurrent_weights, false, e_.steps}].run(stream(lane), b_.recurrent_gate_gradients(l, 0),
                                                                        b_.h(l, slot_before(l, 0)), out.recurrent,
                                                                        accumulates, scratch(lane));
    if (out.bias != nullptr) {
      if constexpr (gates::same_rows)
        column_sum(lane, b_.input_gate_gradients(l, 0), rows, input_width, input_width, out.bias);
      else
        for (int g = 0; g < traits::gate_count; ++g) {
          if (int const block = gates::input_block(g); block >= 0)
            column_sum(lane, b_.input_gate_gradients(l, 0) + block * hidden, rows, hidden, input_width,
                       out.bias + g * hidden);
          else
            column_sum(lane, b_.recurrent_gate_gradients(l, 0) + gates::recurrent_block(g) * hidden, rows, hidden,
                       recurrent_width, out.bias + g * hidden);
        }
    }
    if (out.units != nullptr)
      for (int u = 0; u < traits::unit_parameters; ++u)
        column_sum(lane, b_.unit_gradients(l, u), e_.batch, hidden, hidden, out.units + u * hidden);
  }

 private:
  /// What the gradient of the cell of a step reads and writes.
  pointwise_gradient_arguments<Cell, Precision> cell_of(line const& l, std::int64_t step) const {
    std::int64_t const time = time_of(e_, l, step), before = slot_before(l, time);
    bool const last = step == e_.steps - 1, top = l.layer == e_.layers - 1;
    pointwise_gradient_arguments<Cell, Precision> p{};
    p.saved = b_.preactivations(l, time);
    p.h_before = b_.h(l, before);
    for (int s = 1; s < traits::states; ++s) p.before[s - 1] = b_.other(s, l, before);
    p.units = a_.weights[index_of(e_, l)].units;
    p.dy_row = e_.directions * e_.hidden;
    storage const* const dy = top ? a_.dy : b_.layer_gradients(l.layer, 0);
    p.dy = dy != nullptr ? dy + time * e_.batch * p.dy_row + l.direction * e_.hidden : nullptr;
    p.recurrent_gradients = last || gates::recurrent_count == 0 ? nullptr : b_.recurrent_gradients(l);
    p.state_gradients = b_.state_gradients(l, 0);
    p.unit_gradients = traits::unit_parameters > 0 ? b_.unit_gradients(l, 0) : nullptr;
    p.input_gate_gradients = b_.input_gate_gradients(l, time);
    p.recurrent_gate_gradients = b_.recurrent_gate_gradients(l, time);
    p.batch = std::int32_t(e_.batch);
    p.hidden = std::int32_t(e_.hidden);
    p.first = last;
    return p;
  }

  /// What the gradients of one gate, or of all, pass through R; the first gate's overwrite, the others are added.
  void multiply_recurrent(int lane, line const& l, std::int64_t step, std::int64_t gate, bool one_gate) {
    products_[{product_kind::recurrent_gradient, false, 1, one_gate}].run(
        stream(lane), b_.recurrent_gate_gradients(l, time_of(e_, l, step)) + gate * e_.hidden,
        weights_.recurrent(l, gate), b_.recurrent_gradients(l), gate > 0, scratch(lane));
    enqueued_product(lane);
  }

  /// Likewise through W.
  void multiply_input(int lane, line const& l, std::int64_t first_step, std::int64_t steps, std::int64_t gate,
                      bool one_gate) {
    storage* const out = input_gradients(l, first_step, steps);
    if (out == nullptr) return;
    products_[{product_kind::input_gradient, l.layer == 0, steps, one_gate}].run(
        stream(lane), b_.input_gate_gradients(l, times_of(e_, l, first_step, steps).first) + gate * e_.hidden,
        weights_.input(l, gate), out, gate > 0, scratch(lane));
  }

  /// dx, or dy of the layer below; null where dx is not wanted.
  storage* input_gradients(line const& l, std::int64_t first_step, std::int64_t steps) const {
    std::int64_t const first = times_of(e_, l, first_step, steps).first;
    if (l.layer > 0) return b_.layer_gradients(l.layer - 1, first);
    return a_.dx != nullptr ? a_.dx + first * e_.batch * e_.input : nullptr;
  }

  template <class T>
  void column_sum(int lane, T const* from, std::int64_t rows, std::int64_t columns, std::int64_t row_stride,
                  accumulate* out) {
    accumulate* const partial = at<accumulate>(b_.workspace_base, b_.workspace.column_sums,
                                               lane * column_sum_chunks * traits::gate_count * e_.hidden);
    launch_column_sum(stream(lane), from, rows, columns, row_stride, out, a_.mode == gradient_mode::accumulate,
                      partial);
  }

  network_products<Precision> const& products_;
  network_steps<Cell, Precision, Kinds> const& steps_;
  network_sweeps<Cell, Precision, Kinds> const& sweeps_;
  backward_arguments<Cell, Precision> const& a_;
  backward_buffers<Cell, Precision> const& b_;
  extents const& e_;
  product_weights<storage> weights_;
};

}  // namespace rnnopt::detail

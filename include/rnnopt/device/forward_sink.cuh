#pragma once

#include <cstdint>

#include "rnnopt/buffers.hpp"
#include "rnnopt/device/copy.cuh"
#include "rnnopt/device/pointwise.cuh"
#include "rnnopt/device/products.cuh"
#include "rnnopt/device/sink_base.cuh"

namespace rnnopt::detail {

/// Enqueues a schedule's forward operations on streams.
template <class Cell, class Precision>
class cuda_forward_sink : public cuda_sink_base {
  using traits = cell_traits<Cell>;
  using gates = typename traits::gates;
  using storage = typename Precision::storage;
  using accumulate = typename Precision::accumulate;
  using state = typename Precision::state;

 public:
  cuda_forward_sink(cudaStream_t stream, lane_set const& lanes, network_products<Precision> const& products,
                    forward_arguments<Cell, Precision> const& arguments,
                    forward_buffers<Cell, Precision> const& buffers)
      : cuda_sink_base(stream, lanes, buffers.workspace_base, buffers.workspace.product_scratch),
        products_(products),
        a_(arguments),
        b_(buffers),
        e_(buffers.e) {}

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
    if (gates::input_count == 0) return;
    time_range const times = times_of(e_, l, first_step, steps);
    line const below{l.layer - 1, 0};
    storage const* const x =
        l.layer == 0 ? a_.x + times.first * e_.batch * e_.input : b_.h(below, slot_after(below, times.first));
    products_[{product_kind::input, l.layer == 0, steps}].run(stream(lane), x, a_.weights[index_of(e_, l)].input,
                                                              b_.input_products(l, times.first), false, scratch(lane));
  }

  void recurrent_product(int lane, line l, std::int64_t step) {
    if (gates::recurrent_count == 0) return;
    products_[{product_kind::recurrent, false, 1}].run(stream(lane), b_.h(l, slot_before(l, time_of(e_, l, step))),
                                                       a_.weights[index_of(e_, l)].recurrent, b_.recurrent_products(l),
                                                       false, scratch(lane));
  }

  void pointwise(int lane, line l, std::int64_t step) {
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
    launch_pointwise(stream(lane), p);
  }

 private:
  /// Distance between the lines of a state other than h: inference keeps one slot a line.
  std::int64_t other_stride() const { return b_.training ? (e_.steps + 1) * b_.plane() : b_.plane(); }

  network_products<Precision> const& products_;
  forward_arguments<Cell, Precision> const& a_;
  forward_buffers<Cell, Precision> const& b_;
  extents const& e_;
};

}  // namespace rnnopt::detail

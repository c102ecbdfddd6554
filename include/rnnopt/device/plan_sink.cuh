#pragma once

#include <algorithm>
#include <set>
#include <string>

#include "rnnopt/device/products.cuh"

namespace rnnopt::detail {

/// Learns from a dry run of the schedule which lanes, events and products a plan needs.
class plan_sink {
  // Each lane is a stream with scratch of its own, each event a CUDA event: numbers beyond these are mistakes.
  static constexpr int most_lanes = 1 << 12;
  static constexpr int most_events = 1 << 16;

 public:
  plan_sink(std::int64_t all_steps, cell_shape const& cell) : all_steps_(all_steps), cell_(cell) {}

  void input_product(int lane, line l, std::int64_t, std::int64_t steps) {
    use(lane);
    if (cell_.input_gates > 0) need(product_kind::input, l, steps);
  }
  void recurrent_product(int lane, line, std::int64_t) {
    use(lane);
    if (cell_.recurrent_gates > 0) need(product_kind::recurrent, {}, 1);
  }
  void pointwise(int lane, line, std::int64_t) { use(lane); }
  void pointwise_gradient(int lane, line, std::int64_t) { use(lane); }
  void recurrent_gradient(int lane, line, std::int64_t) {
    use(lane);
    if (cell_.recurrent_gates > 0) need(product_kind::recurrent_gradient, {}, 1);
  }
  void input_gradient(int lane, line l, std::int64_t, std::int64_t steps) {
    use(lane);
    if (cell_.input_gates > 0) need(product_kind::input_gradient, l, steps);
  }
  void weight_gradient(int lane, line l) {
    use(lane);
    if (cell_.input_gates > 0) need(product_kind::input_weights, l, all_steps_);
    if (cell_.recurrent_gates > 0) need(product_kind::recurrent_weights, {}, all_steps_);
  }
  void signal(int lane, int event) {
    use(lane);
    use_event(event);
  }
  void wait(int lane, int event) {
    use(lane);
    use_event(event);
  }

  int lanes() const { return lanes_; }
  int events() const { return events_; }
  std::set<product_key> const& products() const { return products_; }

 private:
  void use(int lane) {
    if (lane < 0 || lane >= most_lanes)
      fail(errc::schedule_inconsistent, "rnn", "the schedule uses lane " + std::to_string(lane),
           "lanes count from 0 to " + std::to_string(most_lanes - 1));
    lanes_ = (std::max)(lanes_, lane + 1);
  }
  void use_event(int event) {
    if (event < 0 || event >= most_events)
      fail(errc::schedule_inconsistent, "rnn", "the schedule uses event " + std::to_string(event),
           "events count from 0 to " + std::to_string(most_events - 1));
    events_ = (std::max)(events_, event + 1);
  }
  void need(product_kind kind, line const& l, std::int64_t steps) {
    // Kinds that do not read x are alike in every layer.
    bool const reads_layer_input =
        kind == product_kind::input || kind == product_kind::input_gradient || kind == product_kind::input_weights;
    products_.insert({kind, reads_layer_input && l.layer == 0, steps});
  }

  std::int64_t all_steps_;
  cell_shape cell_;
  int lanes_ = 1;
  int events_ = 0;
  std::set<product_key> products_;
};

}  // namespace rnnopt::detail

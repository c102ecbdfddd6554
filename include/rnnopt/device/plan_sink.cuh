#pragma once

#include <algorithm>
#include <set>
#include <string>

#include "rnnopt/device/products.cuh"
#include "rnnopt/device/sink_base.cuh"

namespace rnnopt::detail {

/// Learns from a dry run of the schedule which lanes, events and products a plan needs.
class plan_sink {
  // Each lane is a stream with scratch of its own, each event a CUDA event: numbers beyond these are mistakes.
  static constexpr int most_lanes = 1 << 12;
  static constexpr int most_events = 1 << 16;

 public:
  plan_sink(std::int64_t all_steps, cell_shape const& cell, bool fused_steps, bool elementwise, team sweeps)
      : all_steps_(all_steps), cell_(cell), fused_steps_(fused_steps), elementwise_(elementwise), sweeps_(sweeps) {}

  void input_product(int lane, line l, std::int64_t, std::int64_t steps) {
    use(lane);
    if (cell_.input_gates > 0) need(product_kind::input, l, steps);
  }
  void gate_input_product(int lane, line l, std::int64_t, std::int64_t steps, std::int64_t gate) {
    use(lane);
    check_gate(gate, cell_.input_gates);
    need(product_kind::input, l, steps, true);
  }
  void recurrent_product(int lane, line, std::int64_t) {
    use(lane);
    if (cell_.recurrent_gates > 0) need(product_kind::recurrent, {}, 1);
  }
  void gate_recurrent_product(int lane, line, std::int64_t, std::int64_t gate) {
    use(lane);
    check_gate(gate, cell_.recurrent_gates);
    need(product_kind::recurrent, {}, 1, true);
  }
  void pointwise(int lane, line, std::int64_t) { use(lane); }
  void elementwise(int lane, line, std::int64_t) {
    use(lane);
    if (!elementwise_) fail_unannounced("elementwise", elementwise_declaration);
  }
  /// Its products too: not every device, extent and pointer is one for the fused kernel.
  void step(int lane, line l, std::int64_t step) {
    if (!fused_steps_) fail_unannounced("step", fused_steps_declaration);
    recurrent_product(lane, l, step);
  }
  void sweep(int lane, line, std::int64_t, std::int64_t steps) {
    use(lane);
    check_sweep("sweep", steps);
  }
  void pointwise_gradient(int lane, line, std::int64_t) { use(lane); }
  void elementwise_gradient(int lane, line, std::int64_t) {
    use(lane);
    if (!elementwise_) fail_unannounced("elementwise_gradient", elementwise_declaration);
  }
  void step_gradient(int lane, line l, std::int64_t step) {
    if (!fused_steps_) fail_unannounced("step_gradient", fused_steps_declaration);
    recurrent_gradient(lane, l, step);
  }
  void sweep_gradient(int lane, line, std::int64_t, std::int64_t steps) {
    use(lane);
    check_sweep("sweep_gradient", steps);
  }
  void recurrent_gradient(int lane, line, std::int64_t) {
    use(lane);
    if (cell_.recurrent_gates > 0) need(product_kind::recurrent_gradient, {}, 1);
  }
  void gate_recurrent_gradient(int lane, line, std::int64_t, std::int64_t gate) {
    use(lane);
    check_gate(gate, cell_.recurrent_gates);
    need(product_kind::recurrent_gradient, {}, 1, true);
  }
  void input_gradient(int lane, line l, std::int64_t, std::int64_t steps) {
    use(lane);
    if (cell_.input_gates > 0) need(product_kind::input_gradient, l, steps);
  }
  void gate_input_gradient(int lane, line l, std::int64_t, std::int64_t steps, std::int64_t gate) {
    use(lane);
    check_gate(gate, cell_.input_gates);
    need(product_kind::input_gradient, l, steps, true);
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
  void check_sweep(char const* operation, std::int64_t steps) const {
    if (sweeps_ == team::none) fail_unannounced(operation, sweeps_declaration);
    if (all_steps_ == 0) return;  // nothing is run
    if (steps < 1 || steps >= std::int64_t(1) << 30)
      fail(steps < 1 ? errc::schedule_inconsistent : errc::extent_too_large, "rnn",
           "the schedule sweeps over " + std::to_string(steps) + " steps", "a sweep has from 1 to 2^30 - 1 steps");
  }
  static void check_gate(std::int64_t gate, int gates) {
    if (gate < 0 || gate >= gates)
      fail(errc::schedule_inconsistent, "rnn", "the schedule uses gate " + std::to_string(gate),
           "gates count from 0 to " + std::to_string(gates - 1));
  }
  void need(product_kind kind, line const& l, std::int64_t steps, bool one_gate = false) {
    // Kinds that do not read x are alike in every layer.
    bool const reads_layer_input =
        kind == product_kind::input || kind == product_kind::input_gradient || kind == product_kind::input_weights;
    products_.insert({kind, reads_layer_input && l.layer == 0, steps, one_gate});
  }

  std::int64_t all_steps_;
  cell_shape cell_;
  bool fused_steps_;
  bool elementwise_;
  team sweeps_;
  int lanes_ = 1;
  int events_ = 0;
  std::set<product_key> products_;
};

}  // namespace rnnopt::detail

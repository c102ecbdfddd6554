#pragma once

#include <algorithm>
#include <cstdint>

#include "rnnopt/schedule.hpp"
#include "rnnopt/schedules/options.hpp"

/// What the schedules of this folder have in common: how a few steps of one line become operations. What is left to
/// each is the order of such chunks.

namespace rnnopt::schedules::detail {

/// Cuts the steps of a line into chunks.
struct chunking {
  std::int64_t steps;  ///< of the whole line
  std::int64_t size;   ///< of every chunk but the last

  chunking(std::int64_t all, std::int64_t wanted)
      : steps(all), size((std::max)((std::min)(wanted, all), std::int64_t(1))) {}

  std::int64_t count() const { return (steps + size - 1) / size; }
  std::int64_t first(std::int64_t chunk) const { return chunk * size; }
  std::int64_t end(std::int64_t chunk) const { return (std::min)(chunk * size + size, steps); }
};

/// Steps first to end - 1 of a line, and where they run.
struct chunk {
  rnnopt::line line;
  std::int64_t first;
  std::int64_t end;
  int recurrence;  ///< lane of the steps
  int side;        ///< lane of what is off the recurrence, the same unless overlapped
  int event;       ///< with which one of these two lanes waits for the other
};

/// Emits chunks as a list of options wants them.
template <class Options>
struct chunk_operations {
  /// Input products, then the steps.
  template <class Sink>
  static void forward(network const& n, chunk const& c, Sink& sink) {
    std::int64_t const steps = c.end - c.first;
    if constexpr (Options::gate_by_gate)
      for (std::int64_t gate = 0; gate < n.input_gates; ++gate)
        sink.gate_input_product(c.side, c.line, c.first, steps, gate);
    if (!Options::gate_by_gate || n.input_gates == 0) sink.input_product(c.side, c.line, c.first, steps);
    hand_over(c.side, c.recurrence, c.event, sink);
    for (std::int64_t step = c.first; step < c.end; ++step) forward_step(n, c, step, sink);
  }

  /// Gate gradients of the steps, from the last to the first, and what they pass through R.
  template <class Sink>
  static void backward_steps(network const& n, chunk const& c, Sink& sink) {
    for (std::int64_t step = c.end - 1; step >= c.first; --step) backward_step(n, c, step, sink);
    // A fused step takes the gradient through R of the step after it: nothing comes before the first.
    if (Options::fused && c.first == 0) sink.recurrent_gradient(c.recurrence, c.line, 0);
    hand_over(c.recurrence, c.side, c.event, sink);
  }

  /// What the gate gradients of the steps pass through W.
  template <class Sink>
  static void input_gradient(network const& n, chunk const& c, Sink& sink) {
    std::int64_t const steps = c.end - c.first;
    if constexpr (Options::gate_by_gate)
      for (std::int64_t gate = 0; gate < n.input_gates; ++gate)
        sink.gate_input_gradient(c.side, c.line, c.first, steps, gate);
    if (!Options::gate_by_gate || n.input_gates == 0) sink.input_gradient(c.side, c.line, c.first, steps);
  }

  /// What follows on the second lane is after what the first has been given. The wait is emitted at once, so that one
  /// event can serve again and again.
  template <class Sink>
  static void hand_over(int from, int to, int event, Sink& sink) {
    if constexpr (Options::overlapped) {
      sink.signal(from, event);
      sink.wait(to, event);
    }
  }

 private:
  template <class Sink>
  static void forward_step([[maybe_unused]] network const& n, chunk const& c, std::int64_t step, Sink& sink) {
    if constexpr (Options::fused) {
      sink.step(c.recurrence, c.line, step);
    } else {
      if constexpr (Options::gate_by_gate)
        for (std::int64_t gate = 0; gate < n.recurrent_gates; ++gate)
          sink.gate_recurrent_product(c.recurrence, c.line, step, gate);
      if (!Options::gate_by_gate || n.recurrent_gates == 0) sink.recurrent_product(c.recurrence, c.line, step);
      if constexpr (Options::elementwise) sink.elementwise(c.recurrence, c.line, step);
      else sink.pointwise(c.recurrence, c.line, step);
    }
  }

  template <class Sink>
  static void backward_step([[maybe_unused]] network const& n, chunk const& c, std::int64_t step, Sink& sink) {
    if constexpr (Options::fused) {
      sink.step_gradient(c.recurrence, c.line, step);
    } else {
      if constexpr (Options::elementwise) sink.elementwise_gradient(c.recurrence, c.line, step);
      else sink.pointwise_gradient(c.recurrence, c.line, step);
      if constexpr (Options::gate_by_gate)
        for (std::int64_t gate = 0; gate < n.recurrent_gates; ++gate)
          sink.gate_recurrent_gradient(c.recurrence, c.line, step, gate);
      if (!Options::gate_by_gate || n.recurrent_gates == 0) sink.recurrent_gradient(c.recurrence, c.line, step);
    }
  }
};

}  // namespace rnnopt::schedules::detail

#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

namespace rnnopt {

/// @brief All that a schedule may know of the network it orders.
struct network {
  std::int64_t layers = 1;
  std::int64_t directions = 1;
  std::int64_t steps = 1;
};

/// @brief One layer in one direction: what carries a hidden state through time.
struct line {
  std::int64_t layer = 0;
  std::int64_t direction = 0;  ///< 0: forward in time, 1: reversed
};

/// @brief Which gradients a backward run has to produce.
struct gradient_request {
  bool data = true;     ///< gate gradients, dx, gradients of the initial states
  bool weights = true;  ///< gradients of W, R, bias and unit parameters; needs the gate gradients
};

// The schedule contract. A schedule is an empty struct with
//   static std::int64_t concurrent_layers(network const&)
//       how many layers may be in flight at once; the executor gives layers l and l + concurrent_layers one buffer for
//       their input products
//   template <class Sink> static void forward(network const&, Sink&)
//   template <class Sink> static void backward(network const&, gradient_request, Sink&)
// The last two emit operations into the sink, each on a numbered lane (lane 0 is the caller's stream). Operations of
// one lane run in the order emitted; across lanes only signal and wait order them. Steps count in the order in which
// they are processed (a reversed line's step 0 is the last time step); backward walks them from the last to the first.
//
//   input_product(lane, line, first_step, steps)       W x for these steps; reads the output of the layer below
//   recurrent_product(lane, line, step)                R h of the step before
//   pointwise(lane, line, step)                        the cell: pre-activations and states in, states out
//   pointwise_gradient(lane, line, step)               gradients of the step's states in, gate gradients out
//   recurrent_gradient(lane, line, step)               the step's gate gradients through R: dh of the step before
//   input_gradient(lane, line, first_step, steps)      gate gradients through W: dx, or dy of the layer below
//   weight_gradient(lane, line)                        dW, dR, bias and unit-parameter gradients over all steps
//   signal(lane, event)                                the event happens once the lane has come here
//   wait(lane, event)                                  the lane goes on once the event has happened
// Lanes and events are small non-negative numbers. An event may be signalled again: a wait is for the last signal that
// was emitted before it.

namespace detail {

/// A sink that ignores everything: the argument with which a schedule is checked.
struct null_sink {
  void input_product(int, line, std::int64_t, std::int64_t) {}
  void recurrent_product(int, line, std::int64_t) {}
  void pointwise(int, line, std::int64_t) {}
  void pointwise_gradient(int, line, std::int64_t) {}
  void recurrent_gradient(int, line, std::int64_t) {}
  void input_gradient(int, line, std::int64_t, std::int64_t) {}
  void weight_gradient(int, line) {}
  void signal(int, int) {}
  void wait(int, int) {}
};

template <class Schedule, class = void>
struct has_concurrent_layers : std::false_type {};
template <class Schedule>
struct has_concurrent_layers<Schedule,
                             std::enable_if_t<std::is_convertible_v<
                                 decltype(Schedule::concurrent_layers(std::declval<network const&>())), std::int64_t>>>
    : std::true_type {};
template <class Schedule, class = void>
struct has_forward : std::false_type {};
template <class Schedule>
struct has_forward<Schedule,
                   std::void_t<decltype(Schedule::forward(std::declval<network const&>(), std::declval<null_sink&>()))>>
    : std::true_type {};
template <class Schedule, class = void>
struct has_backward_pass : std::false_type {};
template <class Schedule>
struct has_backward_pass<
    Schedule, std::void_t<decltype(Schedule::backward(std::declval<network const&>(), std::declval<gradient_request>(),
                                                      std::declval<null_sink&>()))>> : std::true_type {};

/// One named message per requirement.
template <class Schedule>
struct require_schedule {
  static_assert(std::is_empty_v<Schedule>,
                "rnnopt: the schedule has data members; write an empty struct, all of it static");
  static_assert(has_concurrent_layers<Schedule>::value,
                "rnnopt: the schedule does not say how many layers are in flight; write static std::int64_t "
                "concurrent_layers(rnnopt::network const&)");
  static_assert(has_forward<Schedule>::value,
                "rnnopt: the schedule's forward cannot be called; write template <class Sink> static void "
                "forward(rnnopt::network const&, Sink&)");
  static_assert(has_backward_pass<Schedule>::value,
                "rnnopt: the schedule's backward cannot be called; write template <class Sink> static void "
                "backward(rnnopt::network const&, rnnopt::gradient_request, Sink&)");
  static constexpr bool value = std::is_empty_v<Schedule> && has_concurrent_layers<Schedule>::value &&
                                has_forward<Schedule>::value && has_backward_pass<Schedule>::value;
};

}  // namespace detail
}  // namespace rnnopt

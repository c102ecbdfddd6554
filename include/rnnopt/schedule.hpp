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
  std::int64_t input_gates = 1;      ///< row blocks of W, 0 where no gate is fed by the input
  std::int64_t recurrent_gates = 1;  ///< row blocks of R, 0 where no gate is fed by h
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

/// @brief Which blocks of a GPU hold R between them while a sweep runs.
enum class team {
  none,     ///< no sweeps
  cluster,  ///< one thread-block cluster, which exchanges h through distributed shared memory
  grid      ///< any blocks of the GPU, which exchange h through L2; the GPU executor does not offer it yet
};

// The schedule contract. A schedule is an empty struct with
//   static std::int64_t concurrent_layers(network const&)
//       how many layers may be in flight at once; the executor gives layers l and l + concurrent_layers one buffer for
//       their input products
//   template <class Sink> static void forward(network const&, Sink&)
//   template <class Sink> static void backward(network const&, gradient_request, Sink&)
// and may have
//   static constexpr bool transposed_weights = true
//       products read transposed copies of W and R, which the caller packs
//   static constexpr bool fused_steps = true
//   static constexpr bool elementwise = true
//       it emits step and step_gradient, or elementwise and elementwise_gradient: the GPU executor compiles no kernels
//       of a kind that is not announced
//   static constexpr team sweeps = team::cluster
//       it emits sweep and sweep_gradient (team::none: it does not): the GPU executor compiles only kernels of that
//       kind
//   static int priority(network const&, int lane)
//       lanes with a larger number go first where the GPU has to choose, otherwise all have 0; lane 0 has the priority
//       of the caller's stream
// forward and backward emit operations into the sink, each on a numbered lane (lane 0 is the caller's stream).
// Operations of one lane run in the order emitted; across lanes only signal and wait order them. Steps count in the
// order in which they are processed (a reversed line's step 0 is the last time step); backward walks them from the last
// to the first.
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
// was emitted before it. These stand for some of the above:
//
//   gate_input_product(lane, line, first_step, steps, gate)     input_product for one row block of W, of input_gates
//   gate_recurrent_product(lane, line, step, gate)              recurrent_product for one row block of R, of
//                                                               recurrent_gates
//   gate_recurrent_gradient(lane, line, step, gate)             that block's share of recurrent_gradient; block 0
//                                                               overwrites, the others are added, in their order
//   gate_input_gradient(lane, line, first_step, steps, gate)    likewise of input_gradient
//   elementwise(lane, line, step)                               pointwise, one kernel for each operation of the cell
//   elementwise_gradient(lane, line, step)                      pointwise_gradient, likewise
//   step(lane, line, step)                                      recurrent_product and pointwise in one kernel
//   step_gradient(lane, line, step)                             recurrent_gradient of the following step (none at the
//                                                               last one) and pointwise_gradient in one kernel; dh of
//                                                               the initial state is left to recurrent_gradient of 0
//   sweep(lane, line, first_step, steps)                        step for each of these steps, in one kernel that keeps
//                                                               R on the chip
//   sweep_gradient(lane, line, first_step, steps)               step_gradient for each of these steps, from the last to
//                                                               the first, likewise
// A cell whose W (or R) has no row blocks takes the operations of all gates: they do nothing, or give zeros.

namespace detail {

/// A sink that ignores everything: the argument with which a schedule is checked.
struct null_sink {
  void input_product(int, line, std::int64_t, std::int64_t) {}
  void gate_input_product(int, line, std::int64_t, std::int64_t, std::int64_t) {}
  void recurrent_product(int, line, std::int64_t) {}
  void gate_recurrent_product(int, line, std::int64_t, std::int64_t) {}
  void pointwise(int, line, std::int64_t) {}
  void elementwise(int, line, std::int64_t) {}
  void step(int, line, std::int64_t) {}
  void sweep(int, line, std::int64_t, std::int64_t) {}
  void pointwise_gradient(int, line, std::int64_t) {}
  void elementwise_gradient(int, line, std::int64_t) {}
  void step_gradient(int, line, std::int64_t) {}
  void sweep_gradient(int, line, std::int64_t, std::int64_t) {}
  void recurrent_gradient(int, line, std::int64_t) {}
  void gate_recurrent_gradient(int, line, std::int64_t, std::int64_t) {}
  void input_gradient(int, line, std::int64_t, std::int64_t) {}
  void gate_input_gradient(int, line, std::int64_t, std::int64_t, std::int64_t) {}
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

template <class Schedule, class = void>
struct names_transposed_weights : std::false_type {};
template <class Schedule>
struct names_transposed_weights<Schedule, std::void_t<decltype(Schedule::transposed_weights)>> : std::true_type {};
template <class Schedule, class = void>
struct names_fused_steps : std::false_type {};
template <class Schedule>
struct names_fused_steps<Schedule, std::void_t<decltype(Schedule::fused_steps)>> : std::true_type {};
template <class Schedule, class = void>
struct names_elementwise : std::false_type {};
template <class Schedule>
struct names_elementwise<Schedule, std::void_t<decltype(Schedule::elementwise)>> : std::true_type {};
template <class Schedule, class = void>
struct names_sweeps : std::false_type {};
template <class Schedule>
struct names_sweeps<Schedule, std::void_t<decltype(Schedule::sweeps)>> : std::true_type {};
template <class Schedule, class = void>
struct names_priority : std::false_type {};
template <class Schedule>
struct names_priority<Schedule, std::void_t<decltype(&Schedule::priority)>> : std::true_type {};
template <class Schedule, class = void>
struct has_priority : std::false_type {};
template <class Schedule>
struct has_priority<
    Schedule,
    std::enable_if_t<std::is_convertible_v<decltype(Schedule::priority(std::declval<network const&>(), 0)), int>>>
    : std::true_type {};

/// Whether the products read transposed copies of W and R.
template <class Schedule>
constexpr bool transposed_weights_of() {
  if constexpr (names_transposed_weights<Schedule>::value) return Schedule::transposed_weights;
  else return false;
}
/// Whether it may emit step and step_gradient.
template <class Schedule>
constexpr bool fused_steps_of() {
  if constexpr (names_fused_steps<Schedule>::value) return Schedule::fused_steps;
  else return false;
}
/// Whether it may emit elementwise and elementwise_gradient.
template <class Schedule>
constexpr bool elementwise_of() {
  if constexpr (names_elementwise<Schedule>::value) return Schedule::elementwise;
  else return false;
}
/// What a schedule declares, as static constexpr, to emit operations of these kinds.
inline constexpr char const* fused_steps_declaration = "bool fused_steps = true";
inline constexpr char const* elementwise_declaration = "bool elementwise = true";
inline constexpr char const* sweeps_declaration = "rnnopt::team sweeps = rnnopt::team::cluster";

/// Which team runs its sweep and sweep_gradient; none where it may not emit them.
template <class Schedule>
constexpr team sweeps_of() {
  if constexpr (names_sweeps<Schedule>::value) return Schedule::sweeps;
  else return team::none;
}
/// A lane's priority; larger goes first.
template <class Schedule>
int priority_of(network const& n, int lane) {
  if constexpr (has_priority<Schedule>::value) return Schedule::priority(n, lane);
  else return static_cast<void>(n), static_cast<void>(lane), 0;
}

/// Whether every requirement on a schedule holds.
template <class Schedule>
struct schedule_check {
  static constexpr bool transposed_weights() {
    if constexpr (names_transposed_weights<Schedule>::value)
      return std::is_same_v<decltype(Schedule::transposed_weights), bool const>;
    else return true;
  }
  static constexpr bool fused_steps() {
    if constexpr (names_fused_steps<Schedule>::value)
      return std::is_same_v<decltype(Schedule::fused_steps), bool const>;
    else return true;
  }
  static constexpr bool elementwise() {
    if constexpr (names_elementwise<Schedule>::value)
      return std::is_same_v<decltype(Schedule::elementwise), bool const>;
    else return true;
  }
  static constexpr bool sweeps() {
    if constexpr (names_sweeps<Schedule>::value) return std::is_same_v<decltype(Schedule::sweeps), team const>;
    else return true;
  }
  static constexpr bool priority = has_priority<Schedule>::value || !names_priority<Schedule>::value;
  static constexpr bool value = std::is_empty_v<Schedule> && has_concurrent_layers<Schedule>::value &&
                                has_forward<Schedule>::value && has_backward_pass<Schedule>::value &&
                                transposed_weights() && fused_steps() && elementwise() && sweeps() && priority;
};

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
  static_assert(schedule_check<Schedule>::transposed_weights(),
                "rnnopt: the schedule's transposed_weights is no constant bool; write static constexpr bool "
                "transposed_weights = true, or leave it out");
  static_assert(schedule_check<Schedule>::fused_steps(),
                "rnnopt: the schedule's fused_steps is no constant bool; write static constexpr bool fused_steps = "
                "true, or leave it out");
  static_assert(schedule_check<Schedule>::elementwise(),
                "rnnopt: the schedule's elementwise is no constant bool; write static constexpr bool elementwise = "
                "true, or leave it out");
  static_assert(schedule_check<Schedule>::sweeps(),
                "rnnopt: the schedule's sweeps is no constant team; write static constexpr rnnopt::team sweeps = "
                "rnnopt::team::cluster, or leave it out");
  static_assert(schedule_check<Schedule>::priority,
                "rnnopt: the schedule's priority cannot be called; write static int priority(rnnopt::network const&, "
                "int lane), or leave it out");
  static constexpr bool value = schedule_check<Schedule>::value;
};

}  // namespace detail
}  // namespace rnnopt

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "rnnopt/error.hpp"
#include "rnnopt/schedule.hpp"

/// What a schedule emits, as a list, and the other orders in which that list may as well run.

namespace rnnopt {

/// @brief The operations of the schedule contract.
enum class operation_kind {
  input_product,
  recurrent_product,
  pointwise,
  pointwise_gradient,
  recurrent_gradient,
  input_gradient,
  weight_gradient,
  signal,
  wait
};

/// @brief One emitted operation.
struct operation {
  operation_kind kind = operation_kind::signal;
  int lane = 0;
  rnnopt::line line;
  std::int64_t first_step = 0;  ///< the step, where there is only one
  std::int64_t steps = 0;       ///< 0 where the operation has none
  int event = 0;                ///< signal: how many there were before it; wait: which of them it waits for, or -1
};

/// @brief "pointwise(layer 1, direction 0, step 3) on lane 2"
inline std::string to_string(operation const& op) {
  char const* const names[] = {"input_product",
                               "recurrent_product",
                               "pointwise",
                               "pointwise_gradient",
                               "recurrent_gradient",
                               "input_gradient",
                               "weight_gradient",
                               "signal",
                               "wait"};
  std::string text = names[static_cast<int>(op.kind)];
  if (op.kind == operation_kind::signal || op.kind == operation_kind::wait) {
    text += "(event " + std::to_string(op.event);
  } else {
    text += "(layer " + std::to_string(op.line.layer) + ", direction " + std::to_string(op.line.direction);
    if (op.kind == operation_kind::input_product || op.kind == operation_kind::input_gradient)
      text += ", steps " + std::to_string(op.first_step) + " to " + std::to_string(op.first_step + op.steps - 1);
    else if (op.kind != operation_kind::weight_gradient) text += ", step " + std::to_string(op.first_step);
  }
  return text + ") on lane " + std::to_string(op.lane);
}

/// @brief A sink that keeps the list of what a schedule emits.
class recorder {
 public:
  std::vector<operation> operations;

  void input_product(int lane, line l, std::int64_t first_step, std::int64_t steps) {
    operations.push_back({operation_kind::input_product, lane, l, first_step, steps, 0});
  }
  void recurrent_product(int lane, line l, std::int64_t step) {
    operations.push_back({operation_kind::recurrent_product, lane, l, step, 1, 0});
  }
  void pointwise(int lane, line l, std::int64_t step) {
    operations.push_back({operation_kind::pointwise, lane, l, step, 1, 0});
  }
  void pointwise_gradient(int lane, line l, std::int64_t step) {
    operations.push_back({operation_kind::pointwise_gradient, lane, l, step, 1, 0});
  }
  void recurrent_gradient(int lane, line l, std::int64_t step) {
    operations.push_back({operation_kind::recurrent_gradient, lane, l, step, 1, 0});
  }
  void input_gradient(int lane, line l, std::int64_t first_step, std::int64_t steps) {
    operations.push_back({operation_kind::input_gradient, lane, l, first_step, steps, 0});
  }
  void weight_gradient(int lane, line l) { operations.push_back({operation_kind::weight_gradient, lane, l, 0, 0, 0}); }
  void signal(int lane, int event) {
    latest_[event] = signals_;
    operations.push_back({operation_kind::signal, lane, {}, 0, 0, signals_++});
  }
  void wait(int lane, int event) {
    auto const signal = latest_.find(event);
    operations.push_back({operation_kind::wait, lane, {}, 0, 0, signal == latest_.end() ? -1 : signal->second});
  }

 private:
  int signals_ = 0;
  std::map<int, int> latest_;  // of each event, its last signal: that is what a wait is for
};

namespace detail {

template <class Sink, class = void>
struct takes_forward : std::false_type {};
template <class Sink>
struct takes_forward<Sink, std::void_t<decltype(std::declval<Sink&>().pointwise(0, line(), std::int64_t(0)))>>
    : std::true_type {};
template <class Sink, class = void>
struct takes_backward : std::false_type {};
template <class Sink>
struct takes_backward<Sink, std::void_t<decltype(std::declval<Sink&>().weight_gradient(0, line()))>> : std::true_type {
};

}  // namespace detail

/// @brief Gives one recorded operation to a sink of forward passes, of backward passes, or of both.
/// @throws logic_error for an operation of a pass that the sink does not take
template <class Sink>
void emit(operation const& op, Sink& sink) {
  using kind = operation_kind;
  if (op.kind == kind::signal) return sink.signal(op.lane, op.event);
  if (op.kind == kind::wait) return sink.wait(op.lane, op.event);
  if constexpr (detail::takes_forward<Sink>::value) {
    if (op.kind == kind::input_product) return sink.input_product(op.lane, op.line, op.first_step, op.steps);
    if (op.kind == kind::recurrent_product) return sink.recurrent_product(op.lane, op.line, op.first_step);
    if (op.kind == kind::pointwise) return sink.pointwise(op.lane, op.line, op.first_step);
  }
  if constexpr (detail::takes_backward<Sink>::value) {
    if (op.kind == kind::pointwise_gradient) return sink.pointwise_gradient(op.lane, op.line, op.first_step);
    if (op.kind == kind::recurrent_gradient) return sink.recurrent_gradient(op.lane, op.line, op.first_step);
    if (op.kind == kind::input_gradient) return sink.input_gradient(op.lane, op.line, op.first_step, op.steps);
    if (op.kind == kind::weight_gradient) return sink.weight_gradient(op.lane, op.line);
  }
  detail::fail(errc::schedule_inconsistent, "emit", to_string(op) + " is not part of this pass");
}

/// @brief Runs recorded operations in another order that lanes, signals and waits allow.
///
/// @param choose  choose(n) picks one of the n lanes that could go on, from 0; with random numbers, any legal order
///                can come out
/// @return whether every operation was run; false when the remaining lanes wait for events that never happen
template <class Sink, class Choose>
bool replay(std::vector<operation> const& operations, Sink& sink, Choose&& choose) {
  std::map<int, std::vector<std::size_t>> lanes;  // what is left of each, the next one last
  for (std::size_t i = operations.size(); i-- > 0;) lanes[operations[i].lane].push_back(i);
  std::set<int> happened;
  for (std::size_t left = operations.size(); left > 0; --left) {
    std::vector<std::vector<std::size_t>*> ready;
    for (auto& [lane, rest] : lanes)
      if (!rest.empty() &&
          (operations[rest.back()].kind != operation_kind::wait || happened.count(operations[rest.back()].event) != 0))
        ready.push_back(&rest);
    if (ready.empty()) return false;
    auto& rest = *ready[static_cast<std::size_t>(choose(ready.size()))];
    operation const& op = operations[rest.back()];
    rest.pop_back();
    if (op.kind == operation_kind::signal) happened.insert(op.event);
    emit(op, sink);
  }
  return true;
}

}  // namespace rnnopt

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
  gate_input_product,
  recurrent_product,
  gate_recurrent_product,
  pointwise,
  elementwise,
  step,
  sweep,
  pointwise_gradient,
  elementwise_gradient,
  step_gradient,
  sweep_gradient,
  recurrent_gradient,
  gate_recurrent_gradient,
  input_gradient,
  gate_input_gradient,
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
  std::int64_t gate = 0;        ///< row block, of an operation of one gate
};

namespace detail {

/// How an operation is called and which of its numbers say something.
struct operation_form {
  char const* name;
  enum { no_step, one_step, some_steps } steps;
  bool one_gate;
};

inline operation_form const& form_of(operation_kind kind) {
  static constexpr operation_form forms[] = {{"input_product", operation_form::some_steps, false},
                                             {"gate_input_product", operation_form::some_steps, true},
                                             {"recurrent_product", operation_form::one_step, false},
                                             {"gate_recurrent_product", operation_form::one_step, true},
                                             {"pointwise", operation_form::one_step, false},
                                             {"elementwise", operation_form::one_step, false},
                                             {"step", operation_form::one_step, false},
                                             {"sweep", operation_form::some_steps, false},
                                             {"pointwise_gradient", operation_form::one_step, false},
                                             {"elementwise_gradient", operation_form::one_step, false},
                                             {"step_gradient", operation_form::one_step, false},
                                             {"sweep_gradient", operation_form::some_steps, false},
                                             {"recurrent_gradient", operation_form::one_step, false},
                                             {"gate_recurrent_gradient", operation_form::one_step, true},
                                             {"input_gradient", operation_form::some_steps, false},
                                             {"gate_input_gradient", operation_form::some_steps, true},
                                             {"weight_gradient", operation_form::no_step, false},
                                             {"signal", operation_form::no_step, false},
                                             {"wait", operation_form::no_step, false}};
  return forms[static_cast<int>(kind)];
}

}  // namespace detail

/// @brief "pointwise(layer 1, direction 0, step 3) on lane 2"
inline std::string to_string(operation const& op) {
  using form = detail::operation_form;
  form const& f = detail::form_of(op.kind);
  std::string text = f.name;
  if (op.kind == operation_kind::signal || op.kind == operation_kind::wait) {
    text += "(event " + std::to_string(op.event);
  } else {
    text += "(layer " + std::to_string(op.line.layer) + ", direction " + std::to_string(op.line.direction);
    if (f.steps == form::one_step) text += ", step " + std::to_string(op.first_step);
    if (f.steps == form::some_steps)
      text += ", steps " + std::to_string(op.first_step) + " to " + std::to_string(op.first_step - 1 + op.steps);
    if (f.one_gate) text += ", gate " + std::to_string(op.gate);
  }
  return text + ") on lane " + std::to_string(op.lane);
}

/// @brief A sink that keeps the list of what a schedule emits.
class recorder {
 public:
  std::vector<operation> operations;

  void input_product(int lane, line l, std::int64_t first_step, std::int64_t steps) {
    add(operation_kind::input_product, lane, l, first_step, steps);
  }
  void gate_input_product(int lane, line l, std::int64_t first_step, std::int64_t steps, std::int64_t gate) {
    add(operation_kind::gate_input_product, lane, l, first_step, steps, gate);
  }
  void recurrent_product(int lane, line l, std::int64_t step) { add(operation_kind::recurrent_product, lane, l, step); }
  void gate_recurrent_product(int lane, line l, std::int64_t step, std::int64_t gate) {
    add(operation_kind::gate_recurrent_product, lane, l, step, 1, gate);
  }
  void pointwise(int lane, line l, std::int64_t step) { add(operation_kind::pointwise, lane, l, step); }
  void elementwise(int lane, line l, std::int64_t step) { add(operation_kind::elementwise, lane, l, step); }
  void step(int lane, line l, std::int64_t step) { add(operation_kind::step, lane, l, step); }
  void sweep(int lane, line l, std::int64_t first_step, std::int64_t steps) {
    add(operation_kind::sweep, lane, l, first_step, steps);
  }
  void pointwise_gradient(int lane, line l, std::int64_t step) {
    add(operation_kind::pointwise_gradient, lane, l, step);
  }
  void elementwise_gradient(int lane, line l, std::int64_t step) {
    add(operation_kind::elementwise_gradient, lane, l, step);
  }
  void step_gradient(int lane, line l, std::int64_t step) { add(operation_kind::step_gradient, lane, l, step); }
  void sweep_gradient(int lane, line l, std::int64_t first_step, std::int64_t steps) {
    add(operation_kind::sweep_gradient, lane, l, first_step, steps);
  }
  void recurrent_gradient(int lane, line l, std::int64_t step) {
    add(operation_kind::recurrent_gradient, lane, l, step);
  }
  void gate_recurrent_gradient(int lane, line l, std::int64_t step, std::int64_t gate) {
    add(operation_kind::gate_recurrent_gradient, lane, l, step, 1, gate);
  }
  void input_gradient(int lane, line l, std::int64_t first_step, std::int64_t steps) {
    add(operation_kind::input_gradient, lane, l, first_step, steps);
  }
  void gate_input_gradient(int lane, line l, std::int64_t first_step, std::int64_t steps, std::int64_t gate) {
    add(operation_kind::gate_input_gradient, lane, l, first_step, steps, gate);
  }
  void weight_gradient(int lane, line l) { add(operation_kind::weight_gradient, lane, l, 0, 0); }
  void signal(int lane, int event) {
    if (event < 0) {  // kept as a mistake
      operations.push_back({operation_kind::signal, lane, {}, 0, 0, -1, 0});
      return;
    }
    latest_[event] = signals_;
    operations.push_back({operation_kind::signal, lane, {}, 0, 0, signals_++, 0});
  }
  void wait(int lane, int event) {
    auto const signal = latest_.find(event);
    operations.push_back({operation_kind::wait, lane, {}, 0, 0, signal == latest_.end() ? -1 : signal->second, 0});
  }

 private:
  void add(operation_kind kind, int lane, line l, std::int64_t first_step, std::int64_t steps = 1,
           std::int64_t gate = 0) {
    operations.push_back({kind, lane, l, first_step, steps, 0, gate});
  }

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
    switch (op.kind) {
      case kind::input_product:
        return sink.input_product(op.lane, op.line, op.first_step, op.steps);
      case kind::gate_input_product:
        return sink.gate_input_product(op.lane, op.line, op.first_step, op.steps, op.gate);
      case kind::recurrent_product:
        return sink.recurrent_product(op.lane, op.line, op.first_step);
      case kind::gate_recurrent_product:
        return sink.gate_recurrent_product(op.lane, op.line, op.first_step, op.gate);
      case kind::pointwise:
        return sink.pointwise(op.lane, op.line, op.first_step);
      case kind::elementwise:
        return sink.elementwise(op.lane, op.line, op.first_step);
      case kind::step:
        return sink.step(op.lane, op.line, op.first_step);
      case kind::sweep:
        return sink.sweep(op.lane, op.line, op.first_step, op.steps);
      default:
        break;
    }
  }
  if constexpr (detail::takes_backward<Sink>::value) {
    switch (op.kind) {
      case kind::pointwise_gradient:
        return sink.pointwise_gradient(op.lane, op.line, op.first_step);
      case kind::elementwise_gradient:
        return sink.elementwise_gradient(op.lane, op.line, op.first_step);
      case kind::step_gradient:
        return sink.step_gradient(op.lane, op.line, op.first_step);
      case kind::sweep_gradient:
        return sink.sweep_gradient(op.lane, op.line, op.first_step, op.steps);
      case kind::recurrent_gradient:
        return sink.recurrent_gradient(op.lane, op.line, op.first_step);
      case kind::gate_recurrent_gradient:
        return sink.gate_recurrent_gradient(op.lane, op.line, op.first_step, op.gate);
      case kind::input_gradient:
        return sink.input_gradient(op.lane, op.line, op.first_step, op.steps);
      case kind::gate_input_gradient:
        return sink.gate_input_gradient(op.lane, op.line, op.first_step, op.steps, op.gate);
      case kind::weight_gradient:
        return sink.weight_gradient(op.lane, op.line);
      default:
        break;
    }
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

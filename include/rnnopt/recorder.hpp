#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rnnopt/schedule.hpp"

/// Schedules on paper: what one emits, whether that is correct on any machine, and other orders that are as legal.

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
  int event = 0;                ///< signal and wait
};

/// @brief "pointwise(layer 1, direction 0, step 3) on lane 2"
inline std::string to_string(operation const& op) {
  char const* const names[] = {"input_product",      "recurrent_product", "pointwise",       "pointwise_gradient",
                               "recurrent_gradient", "input_gradient",    "weight_gradient", "signal",
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
struct recorder {
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
  void signal(int lane, int event) { operations.push_back({operation_kind::signal, lane, {}, 0, 0, event}); }
  void wait(int lane, int event) { operations.push_back({operation_kind::wait, lane, {}, 0, 0, event}); }
};

/// @brief Gives one recorded operation to a sink.
template <class Sink>
void emit(operation const& op, Sink& sink) {
  switch (op.kind) {
    case operation_kind::input_product: return sink.input_product(op.lane, op.line, op.first_step, op.steps);
    case operation_kind::recurrent_product: return sink.recurrent_product(op.lane, op.line, op.first_step);
    case operation_kind::pointwise: return sink.pointwise(op.lane, op.line, op.first_step);
    case operation_kind::pointwise_gradient: return sink.pointwise_gradient(op.lane, op.line, op.first_step);
    case operation_kind::recurrent_gradient: return sink.recurrent_gradient(op.lane, op.line, op.first_step);
    case operation_kind::input_gradient: return sink.input_gradient(op.lane, op.line, op.first_step, op.steps);
    case operation_kind::weight_gradient: return sink.weight_gradient(op.lane, op.line);
    case operation_kind::signal: return sink.signal(op.lane, op.event);
    case operation_kind::wait: return sink.wait(op.lane, op.event);
  }
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
      if (!rest.empty() && (operations[rest.back()].kind != operation_kind::wait ||
                            happened.count(operations[rest.back()].event) != 0))
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

namespace detail {

/// Happens-before over lanes, signals and waits, by vector clocks; and which operation does what.
class schedule_checker {
 public:
  schedule_checker(network const& n, std::int64_t concurrent_layers, std::vector<operation> const& operations)
      : n_(n), concurrent_(std::clamp<std::int64_t>(concurrent_layers, 1, n.layers)), operations_(operations) {
    run_clocks();
  }

  std::vector<std::string> forward() {
    expect({operation_kind::input_product, operation_kind::recurrent_product, operation_kind::pointwise});
    for_each_step([&](line const& l, std::int64_t step) {
      auto const input = find(operation_kind::input_product, l, step);
      auto const product = find(operation_kind::recurrent_product, l, step);
      auto const cell = find(operation_kind::pointwise, l, step);
      ordered(input, cell, "reads its product");
      ordered(product, cell, "reads its product");
      if (step > 0) {
        auto const before = find(operation_kind::pointwise, l, step - 1);
        ordered(before, product, "reads its h");
        ordered(before, cell, "reads its states");
      }
      if (l.layer > 0)
        for (std::int64_t d = 0; d < n_.directions; ++d) {
          line const below{l.layer - 1, d};
          ordered(find(operation_kind::pointwise, below, step_at(below, time_at(l, step))), input, "reads its output");
        }
      // Layers that far apart have one buffer of input products, indexed by direction and time.
      if (l.layer >= concurrent_) {
        line const earlier{l.layer - concurrent_, l.direction};
        ordered(find(operation_kind::pointwise, earlier, step), input, "overwrites the product it reads");
      }
    });
    return violations_;
  }

  std::vector<std::string> backward(gradient_request wanted) {
    std::set<operation_kind> kinds;
    if (wanted.data)
      kinds = {operation_kind::pointwise_gradient, operation_kind::recurrent_gradient, operation_kind::input_gradient};
    if (wanted.weights) kinds.insert(operation_kind::weight_gradient);
    expect(kinds);
    for_each_step([&](line const& l, std::int64_t step) {
      if (!wanted.data) return;
      auto const cell = find(operation_kind::pointwise_gradient, l, step);
      auto const recurrent = find(operation_kind::recurrent_gradient, l, step);
      auto const input = find(operation_kind::input_gradient, l, step);
      ordered(cell, recurrent, "reads its gate gradients");
      ordered(cell, input, "reads its gate gradients");
      if (wanted.weights)
        ordered(cell, find(operation_kind::weight_gradient, l, 0), "reads its gate gradients");
      if (step > 0) {
        auto const next = find(operation_kind::pointwise_gradient, l, step - 1);
        ordered(recurrent, next, "reads its dh");
        ordered(cell, next, "reads its state gradients");
      }
      if (l.layer + 1 < n_.layers)
        for (std::int64_t d = 0; d < n_.directions; ++d) {
          line const above{l.layer + 1, d};
          ordered(find(operation_kind::input_gradient, above, step_at(above, time_at(l, step))), cell, "reads its dy");
        }
      if (l.direction > 0) {
        line const first{l.layer, 0};
        ordered(find(operation_kind::input_gradient, first, step_at(first, time_at(l, step))), input, "adds to its result");
      }
    });
    return violations_;
  }

 private:
  static constexpr std::size_t missing = static_cast<std::size_t>(-1);

  std::int64_t time_at(line const& l, std::int64_t step) const { return l.direction == 0 ? step : n_.steps - 1 - step; }
  std::int64_t step_at(line const& l, std::int64_t time) const { return time_at(l, time); }

  template <class Function>
  void for_each_step(Function const& function) const {
    for (std::int64_t layer = 0; layer < n_.layers; ++layer)
      for (std::int64_t direction = 0; direction < n_.directions; ++direction)
        for (std::int64_t step = 0; step < n_.steps; ++step) function(line{layer, direction}, step);
  }

  void violation(std::string const& text) {
    if (said_.insert(text).second) violations_.push_back(text);
  }

  /// clocks_[i][lane]: how many operations of that lane have surely ended when operation i ends, itself included.
  void run_clocks() {
    std::map<int, std::size_t> index;
    for (operation const& op : operations_) index.emplace(op.lane, index.size());
    std::vector<std::vector<std::size_t>> lanes(index.size(), std::vector<std::size_t>(index.size()));
    std::map<int, std::vector<std::size_t>> events;
    for (operation const& op : operations_) {
      std::size_t const lane = index[op.lane];
      auto& clock = lanes[lane];
      if (op.lane < 0) violation(to_string(op) + ": the lane is negative");
      if (op.kind == operation_kind::wait) {
        if (op.event < 0 || events.count(op.event) == 0)
          violation(to_string(op) + ": the event has not been signalled before");
        else
          for (std::size_t other = 0; other < clock.size(); ++other)
            clock[other] = (std::max)(clock[other], events[op.event][other]);
      }
      ++clock[lane];
      if (op.kind == operation_kind::signal && !events.emplace(op.event, clock).second)
        violation(to_string(op) + ": the event has been signalled before");
      lane_of_.push_back(lane);
      clocks_.push_back(clock);
    }
  }

  bool happens_before(std::size_t a, std::size_t b) const {
    return a < b && clocks_[b][lane_of_[a]] >= clocks_[a][lane_of_[a]];
  }

  void ordered(std::size_t before, std::size_t after, char const* why) {
    if (before == missing || after == missing || happens_before(before, after)) return;
    violation(to_string(operations_[after]) + " " + why + " but is not ordered after " + to_string(operations_[before]));
  }

  std::size_t& slot(operation_kind kind, line const& l, std::int64_t step) {
    auto& steps = done_[{kind, l.layer * n_.directions + l.direction}];
    if (steps.empty()) steps.assign(static_cast<std::size_t>((std::max)(n_.steps, std::int64_t(1))), missing);
    return steps[static_cast<std::size_t>(step)];
  }
  std::size_t find(operation_kind kind, line const& l, std::int64_t step) { return slot(kind, l, step); }

  /// Every step of every line once for each of these kinds, and nothing of the other kinds.
  void expect(std::set<operation_kind> const& kinds) {
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      operation const& op = operations_[i];
      if (op.kind == operation_kind::signal || op.kind == operation_kind::wait) continue;
      bool const all = op.kind == operation_kind::weight_gradient;
      std::int64_t const last = all ? 1 : op.first_step + op.steps, limit = all ? 1 : n_.steps;
      if (kinds.count(op.kind) == 0) violation(to_string(op) + " is not part of this pass");
      else if (op.line.layer < 0 || op.line.layer >= n_.layers || op.line.direction < 0 ||
               op.line.direction >= n_.directions || op.first_step < 0 || op.steps < 0 || last > limit)
        violation(to_string(op) + " is outside the network");
      else
        for (std::int64_t step = op.first_step; step < last; ++step) {
          std::size_t& doer = slot(op.kind, op.line, step);
          if (doer != missing) violation(to_string(op) + " repeats step " + std::to_string(step));
          else doer = i;
        }
    }
    for (operation_kind const kind : kinds)
      for (std::int64_t layer = 0; layer < n_.layers; ++layer)
        for (std::int64_t direction = 0; direction < n_.directions; ++direction) {
          bool const all = kind == operation_kind::weight_gradient;
          for (std::int64_t step = 0; step < (all ? 1 : n_.steps); ++step)
            if (slot(kind, {layer, direction}, step) == missing)
              violation(to_string({kind, 0, {layer, direction}, step, 1, 0}) + " is missing, on this lane or another");
        }
  }

  network n_;
  std::int64_t concurrent_;
  std::vector<operation> const& operations_;
  std::vector<std::size_t> lane_of_;
  std::vector<std::vector<std::size_t>> clocks_;
  std::map<std::pair<operation_kind, std::int64_t>, std::vector<std::size_t>> done_;
  std::vector<std::string> violations_;
  std::set<std::string> said_;
};

}  // namespace detail

/// @brief What is wrong with a recorded forward pass; empty when it is proven correct.
///
/// Proven means: every operation happens exactly once, every value is read after it has been written and before its
/// buffer is used again, whatever the relative speed of the lanes. All lanes start after the caller's earlier work and
/// end before the caller's later work.
/// @param concurrent_layers  as the schedule says: layers l and l + concurrent_layers share input products
inline std::vector<std::string> check_forward(network const& n, std::int64_t concurrent_layers,
                                              std::vector<operation> const& operations) {
  return detail::schedule_checker(n, concurrent_layers, operations).forward();
}

/// @brief What is wrong with a recorded backward pass; empty when it is proven correct.
inline std::vector<std::string> check_backward(network const& n, gradient_request wanted,
                                               std::vector<operation> const& operations) {
  return detail::schedule_checker(n, n.layers, operations).backward(wanted);
}

/// @brief What is wrong with a schedule for this network, in any of its passes; empty when it is proven correct.
template <class Schedule>
std::vector<std::string> check_schedule(network const& n) {
  static_assert(detail::require_schedule<Schedule>::value);
  recorder forward;
  Schedule::forward(n, forward);
  std::vector<std::string> violations = check_forward(n, Schedule::concurrent_layers(n), forward.operations);
  for (gradient_request const wanted : {gradient_request{true, true}, {true, false}, {false, true}}) {
    recorder backward;
    Schedule::backward(n, wanted, backward);
    auto const more = check_backward(n, wanted, backward.operations);
    violations.insert(violations.end(), more.begin(), more.end());
  }
  return violations;
}

}  // namespace rnnopt

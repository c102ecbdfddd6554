#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rnnopt/recorder.hpp"

/// Proves from the list of operations that a schedule is correct, however fast the lanes run against each other.

namespace rnnopt {

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
      if (wanted.weights) ordered(cell, find(operation_kind::weight_gradient, l, 0), "reads its gate gradients");
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
        ordered(find(operation_kind::input_gradient, first, step_at(first, time_at(l, step))), input,
                "adds to its result");
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
    violation(to_string(operations_[after]) + " " + why + " but is not ordered after " +
              to_string(operations_[before]));
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
      std::int64_t const limit = all ? 1 : n_.steps, steps = all ? 1 : op.steps;
      if (kinds.count(op.kind) == 0) violation(to_string(op) + " is not part of this pass");
      else if (op.line.layer < 0 || op.line.layer >= n_.layers || op.line.direction < 0 ||
               op.line.direction >= n_.directions || op.first_step < 0 || steps < 0 || steps > limit ||
               op.first_step > limit - steps)
        violation(to_string(op) + " is outside the network");
      else if (steps == 0 && n_.steps > 0) violation(to_string(op) + " does nothing");
      else
        for (std::int64_t step = op.first_step; step < op.first_step + steps; ++step) {
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

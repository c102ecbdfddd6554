#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "rnnopt/recorder.hpp"
#include "rnnopt/schedule_values.hpp"

/// Proves from the list of operations that a schedule is correct, however fast the lanes run against each other.

namespace rnnopt {

namespace detail {

/// Happens-before over lanes, signals and waits, by vector clocks; and which operation leaves which value.
class schedule_checker {
 public:
  schedule_checker(network const& n, std::int64_t concurrent_layers, std::vector<operation> const& operations)
      : n_(n), concurrent_(std::clamp<std::int64_t>(concurrent_layers, 1, n.layers)), operations_(operations) {
    run_clocks();
  }

  std::vector<std::string> forward() {
    return prove({value_kind::input_products, value_kind::recurrent_products, value_kind::states});
  }
  std::vector<std::string> backward(gradient_request wanted) {
    std::set<value_kind> values;
    if (wanted.data)
      values = {value_kind::gate_gradients, value_kind::gradients_through_r, value_kind::gradients_through_w};
    if (wanted.weights) values.insert(value_kind::weight_gradients);
    return prove(values);
  }

 private:
  /// Layer, direction, step, block.
  using value_id = std::array<std::int64_t, 4>;

  /// Every one of these values is left exactly once, and used only after that.
  std::vector<std::string> prove(std::set<value_kind> const& values) {
    std::vector<std::size_t> valid;
    for (std::size_t i = 0; i < operations_.size(); ++i)
      if (is_work(operations_[i]) && may_run(operations_[i], values)) valid.push_back(i);
    for (std::size_t const i : valid)
      for_each_value(value_writes, operations_[i], [&](value_access const& access, value_id const& id) {
        if (!writers_[access.value].emplace(id, i).second)
          violation(to_string(operations_[i]) + " repeats " + name_of(access.value, id));
      });
    for (value_kind const kind : values) expect_all(kind);
    for (std::size_t const i : valid)
      for_each_value(value_reads, operations_[i], [&](value_access const& access, value_id const& id) {
        auto const writer = writers_[access.value].find(id);
        // What a sweep has written itself, it reads in the order of its steps.
        if (writer != writers_[access.value].end() && writer->second != i) ordered(writer->second, i, access.why);
      });
    return violations_;
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
      if (op.kind == operation_kind::signal && op.event < 0) violation(to_string(op) + ": the event is negative");
      else if (op.kind == operation_kind::signal && !events.emplace(op.event, clock).second)
        violation(to_string(op) + ": the event has been signalled before");
      lane_of_.push_back(lane);
      clocks_.push_back(clock);
    }
  }

  bool happens_before(std::size_t a, std::size_t b) const {
    return a < b && clocks_[b][lane_of_[a]] >= clocks_[a][lane_of_[a]];
  }

  void ordered(std::size_t before, std::size_t after, char const* why) {
    if (happens_before(before, after)) return;
    violation(to_string(operations_[after]) + " " + why + " but is not ordered after " +
              to_string(operations_[before]));
  }

  static bool is_work(operation const& op) {
    return op.kind != operation_kind::signal && op.kind != operation_kind::wait;
  }
  static bool is_of_w(value_kind kind) {
    return kind == value_kind::input_products || kind == value_kind::gradients_through_w;
  }
  static bool is_of_r(value_kind kind) {
    return kind == value_kind::recurrent_products || kind == value_kind::gradients_through_r;
  }
  /// What a product gives is there even where it has no gates, and then nothing or zero.
  std::int64_t blocks_of(value_kind kind) const {
    std::int64_t const gates = is_of_w(kind) ? n_.input_gates : is_of_r(kind) ? n_.recurrent_gates : 1;
    return (std::max)(gates, std::int64_t(1));
  }
  std::int64_t steps_of(value_kind kind) const { return kind == value_kind::weight_gradients ? 1 : n_.steps; }

  std::string name_of(value_kind kind, value_id const& id) const {
    char const* const names[] = {"the input product",   "the recurrent product",  "the states",
                                 "the gate gradients",  "the gradient through R", "the gradient through W",
                                 "the weight gradients"};
    std::string text =
        names[static_cast<int>(kind)] + (" of layer " + std::to_string(id[0])) + ", direction " + std::to_string(id[1]);
    if (kind != value_kind::weight_gradients) text += ", step " + std::to_string(id[2]);
    if (blocks_of(kind) > 1) text += ", gate " + std::to_string(id[3]);
    return text;
  }

  /// Whether the operation belongs to the pass that leaves these values, and lies within the network.
  bool may_run(operation const& op, std::set<value_kind> const& values) {
    operation_form const& form = form_of(op.kind);
    value_kind const* main = nullptr;
    for (value_access const& access : value_writes)
      if (access.operation == whole_of(op.kind)) main = &access.value;
    bool const whole_line = form.steps == operation_form::no_step;
    std::int64_t const gates = is_of_w(*main) ? n_.input_gates : n_.recurrent_gates;
    if (values.count(*main) == 0) violation(to_string(op) + " is not part of this pass");
    else if (op.line.layer < 0 || op.line.layer >= n_.layers || op.line.direction < 0 ||
             op.line.direction >= n_.directions || (form.one_gate && (op.gate < 0 || op.gate >= gates)) ||
             (!whole_line &&
              (op.first_step < 0 || op.steps < 0 || op.steps > n_.steps || op.first_step > n_.steps - op.steps)))
      violation(to_string(op) + " is outside the network");
    else if (!whole_line && op.steps == 0 && n_.steps > 0) violation(to_string(op) + " does nothing");
    else return true;
    return false;
  }

  void expect_all(value_kind kind) {
    for (std::int64_t layer = 0; layer < n_.layers; ++layer)
      for (std::int64_t direction = 0; direction < n_.directions; ++direction)
        for (std::int64_t step = 0; step < steps_of(kind); ++step)
          for (std::int64_t block = 0; block < blocks_of(kind); ++block) {
            value_id const id{layer, direction, step, block};
            if (writers_[kind].count(id) == 0) violation("nothing leaves " + name_of(kind, id));
          }
  }

  /// function(access, id) for every value that an operation touches by one of the two tables.
  template <std::size_t Count, class Function>
  void for_each_value(value_access const (&table)[Count], operation const& op, Function const& function) const {
    operation_form const& form = form_of(op.kind);
    bool const writes = &table[0] == &value_writes[0];
    for (value_access const& access : table) {
      if (access.operation != whole_of(op.kind)) continue;
      std::int64_t first_block = 0, end_block = blocks_of(access.value);
      if (access.place == value_place::gate_before) first_block = op.gate - 1, end_block = op.gate;
      else if (writes && form.one_gate) first_block = op.gate, end_block = op.gate + 1;
      if (first_block < 0) continue;
      bool const whole_line = form.steps == operation_form::no_step;
      std::int64_t const first_step = whole_line ? 0 : op.first_step;
      std::int64_t const end_step = whole_line ? steps_of(access.value) : op.first_step + op.steps;
      for (std::int64_t step = first_step; step < end_step; ++step)
        for_each_place(access.place, op.line, step, [&](line const& l, std::int64_t at) {
          for (std::int64_t block = first_block; block < end_block; ++block)
            function(access, value_id{l.layer, l.direction, at, block});
        });
    }
  }

  /// function(line, step) for each place that exists.
  template <class Function>
  void for_each_place(value_place place, line const& l, std::int64_t step, Function const& function) const {
    auto const same_time = [&](line const& other) {
      function(other, other.direction == l.direction ? step : n_.steps - 1 - step);
    };
    auto const both_directions = [&](std::int64_t layer) {
      for (std::int64_t direction = 0; direction < n_.directions; ++direction) same_time({layer, direction});
    };
    switch (place) {
      case value_place::here:
      case value_place::gate_before:
        return function(l, step);
      case value_place::step_before:
        return step > 0 ? function(l, step - 1) : void();
      case value_place::step_after:
        return step + 1 < n_.steps ? function(l, step + 1) : void();
      case value_place::layer_below:
        return l.layer > 0 ? both_directions(l.layer - 1) : void();
      case value_place::layer_above:
        return l.layer + 1 < n_.layers ? both_directions(l.layer + 1) : void();
      case value_place::direction_before:
        return l.direction > 0 ? same_time({l.layer, l.direction - 1}) : void();
      case value_place::buffer_before:
        return l.layer >= concurrent_ ? function({l.layer - concurrent_, l.direction}, step) : void();
    }
  }

  network n_;
  std::int64_t concurrent_;
  std::vector<operation> const& operations_;
  std::vector<std::size_t> lane_of_;
  std::vector<std::vector<std::size_t>> clocks_;
  std::map<value_kind, std::map<value_id, std::size_t>> writers_;
  std::vector<std::string> violations_;
  std::set<std::string> said_;
};

}  // namespace detail

namespace detail {

/// What no schedule can be proven for; empty when there is nothing.
inline std::vector<std::string> mistakes_of(network const& n) {
  if (n.layers >= 1 && (n.directions == 1 || n.directions == 2) && n.steps >= 0 && n.input_gates >= 0 &&
      n.recurrent_gates >= 0)
    return {};
  return {"the network has layers " + std::to_string(n.layers) + ", directions " + std::to_string(n.directions) +
          ", steps " + std::to_string(n.steps) + ", gates " + std::to_string(n.input_gates) + " and " +
          std::to_string(n.recurrent_gates) + "; it needs a layer, 1 or 2 directions and nothing negative"};
}

/// The constant that a schedule lacks to emit such an operation; null where it lacks none.
template <class Schedule>
char const* missing_constant(operation_kind kind) {
  using op = operation_kind;
  switch (kind) {
    case op::step:
    case op::step_gradient:
      return fused_steps_of<Schedule>() ? nullptr : fused_steps_declaration;
    case op::elementwise:
    case op::elementwise_gradient:
      return elementwise_of<Schedule>() ? nullptr : elementwise_declaration;
    case op::sweep:
    case op::sweep_gradient:
      return sweeps_of<Schedule>() != team::none ? nullptr : sweeps_declaration;
    default:
      return nullptr;
  }
}

/// What a schedule emits without a constant that announces it: its kernels would not be there (see schedule.hpp).
template <class Schedule>
std::vector<std::string> unannounced(std::vector<operation> const& operations) {
  std::vector<std::string> violations;
  for (operation const& op : operations)
    if (char const* const constant = missing_constant<Schedule>(op.kind); constant != nullptr)
      violations.push_back(to_string(op) + " is not announced: the schedule needs static constexpr " + constant);
  return violations;
}

}  // namespace detail

/// @brief What is wrong with a recorded forward pass; empty when it is proven correct.
///
/// Proven means: every operation happens exactly once, every value is read after it has been written and before its
/// buffer is used again, whatever the relative speed of the lanes. All lanes start after the caller's earlier work and
/// end before the caller's later work.
/// @param concurrent_layers  as the schedule says: layers l and l + concurrent_layers share input products
inline std::vector<std::string> check_forward(network const& n, std::int64_t concurrent_layers,
                                              std::vector<operation> const& operations) {
  if (auto const mistakes = detail::mistakes_of(n); !mistakes.empty()) return mistakes;
  return detail::schedule_checker(n, concurrent_layers, operations).forward();
}

/// @brief What is wrong with a recorded backward pass; empty when it is proven correct.
inline std::vector<std::string> check_backward(network const& n, gradient_request wanted,
                                               std::vector<operation> const& operations) {
  if (auto const mistakes = detail::mistakes_of(n); !mistakes.empty()) return mistakes;
  return detail::schedule_checker(n, n.layers, operations).backward(wanted);
}

/// @brief What is wrong with a schedule for this network, in any of its passes; empty when it is proven correct.
template <class Schedule>
std::vector<std::string> check_schedule(network const& n) {
  static_assert(detail::require_schedule<Schedule>::value);
  if (auto const mistakes = detail::mistakes_of(n); !mistakes.empty()) return mistakes;
  recorder forward;
  Schedule::forward(n, forward);
  std::vector<std::string> violations = check_forward(n, Schedule::concurrent_layers(n), forward.operations);
  auto const add = [&](std::vector<std::string> const& more) {
    violations.insert(violations.end(), more.begin(), more.end());
  };
  add(detail::unannounced<Schedule>(forward.operations));
  for (gradient_request const wanted : {gradient_request{true, true}, {true, false}, {false, true}}) {
    recorder backward;
    Schedule::backward(n, wanted, backward);
    add(check_backward(n, wanted, backward.operations));
    add(detail::unannounced<Schedule>(backward.operations));
  }
  return violations;
}

}  // namespace rnnopt

#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "rnnopt/cell.hpp"
#include "rnnopt/evaluate.hpp"
#include "rnnopt/traced.hpp"

/// A cell as a list of elementary operations, forward and backward, for executors that run one kernel for each: the
/// baseline of Appleyard et al. 2016 (table 1, row 0), for any cell. The sums of the gates and of the gradients that
/// arrive at a step are operations as well.

namespace rnnopt::detail {

struct tape_operation {
  arithmetic kind;
  place operands[3];
  int slot;                     ///< where later operations read the result, or -1
  std::optional<place> output;  ///< where else it goes
};

/// Operations in the order to run them, and how many intermediate values are alive at once.
struct tape {
  std::vector<tape_operation> operations;
  int slots = 0;
};

struct tape_output {
  place to;
  traced value;
};

/// Whether writing `output` may overwrite `input`: executors update states and gradients in place.
inline bool shares_memory(place const& input, place const& output) {
  bool const states = input.what == quantity::state && output.what == quantity::next_state;
  return input.index == output.index && (input.what == output.what || states);
}

/// Turns a trace into a tape. What no output needs is dropped. An output is stored by the operation that computes it,
/// unless that would overwrite an input still to be read: it then waits in a slot, and is copied at the end.
class tape_builder {
 public:
  static tape build(trace& recorded, std::vector<tape_output> const& outputs) {
    tape_builder builder(recorded);
    for (tape_output const& output : outputs) builder.add_output(output);
    builder.find_uses();
    for (int n = 0; n < recorded.size(); ++n)
      if (builder.is_computed(n) && builder.info(n).last_use >= 0) builder.emit(n);
    builder.emit_copies();
    return builder.result_;
  }

 private:
  struct node_info {
    int last_use = -1;  ///< node that reads it last; itself if nothing but an output does; -1: not needed
    int slot = -1;
    place const* output = nullptr;
    bool waits = false;  ///< its output is copied at the end
  };

  explicit tape_builder(trace& recorded) : trace_(recorded), info_(std::size_t(recorded.size())) {}

  node_info& info(int n) { return info_[std::size_t(n)]; }
  bool is_computed(int n) const { return trace_[n].source.what == quantity::slot; }

  /// Every output gets an operation of its own: a copy where it is an input, a constant or another output as well.
  void add_output(tape_output const& output) {
    int n = trace_.number_of(output.value);
    info_.resize(std::size_t(trace_.size()));
    if (!is_computed(n) || info(n).output != nullptr) n = trace_.append_copy(n);
    info_.resize(std::size_t(trace_.size()));
    info(n).output = &output.to;
    info(n).last_use = n;
  }

  void find_uses() {
    for (int n = trace_.size() - 1; n >= 0; --n)
      if (is_computed(n) && info(n).last_use >= 0)
        for (int const operand : trace_[n].operands)
          if (operand >= 0) info(operand).last_use = (std::max)(info(operand).last_use, n);
    for (int n = 0; n < trace_.size(); ++n)
      if (info(n).output != nullptr) info(n).waits = overwrites_too_early(n);
  }
  bool overwrites_too_early(int n) {
    for (int input = 0; input < trace_.size(); ++input)
      if (!is_computed(input) && info(input).last_use > n && shares_memory(trace_[input].source, *info(n).output))
        return true;
    return false;
  }

  void emit(int n) {
    tape_operation step{trace_[n].kind, {}, -1, {}};
    for (int i = 0; i < operand_count(step.kind); ++i) {
      int const operand = trace_[n].operands[i];
      step.operands[i] = is_computed(operand) ? slot_of(operand) : trace_[operand].source;
    }
    // An operand read for the last time leaves its slot to the result: a thread reads its element before it writes it.
    for (int const operand : trace_[n].operands)
      if (operand >= 0 && info(operand).slot >= 0 && info(operand).last_use == n && !info(operand).waits)
        release(operand);
    if (info(n).waits || info(n).last_use > n) step.slot = acquire(n);
    if (info(n).output != nullptr && !info(n).waits) step.output = *info(n).output;
    result_.operations.push_back(step);
  }
  void emit_copies() {
    for (int n = 0; n < trace_.size(); ++n)
      if (info(n).waits) result_.operations.push_back({arithmetic::copy, {slot_of(n), {}, {}}, -1, *info(n).output});
  }

  place slot_of(int n) { return {quantity::slot, info(n).slot, 0}; }
  int acquire(int n) {
    if (free_.empty()) free_.push_back(result_.slots++);
    info(n).slot = free_.back();
    free_.pop_back();
    return info(n).slot;
  }
  void release(int n) {
    free_.push_back(info(n).slot);
    info(n).slot = -1;
  }

  trace& trace_;
  std::vector<node_info> info_;
  std::vector<int> free_;
  tape result_;
};

/// What a step reads forward and backward alike.
template <class Cell>
void add_cell_inputs(trace& recorded, unit_inputs<Cell, traced>& in) {
  for (int s = 0; s < cell_traits<Cell>::states; ++s) in.states[s] = recorded.input(quantity::state, s);
  for (int u = 0; u < cell_traits<Cell>::unit_parameters; ++u) in.units[u] = recorded.input(quantity::unit, u);
}

/// The step of a cell, from the products, with or without biases.
template <class Cell>
tape record_forward(bool bias) {
  using gates = typename Cell::gates;
  trace recorded;
  unit_inputs<Cell, traced> in;
  std::vector<tape_output> outputs;
  add_cell_inputs<Cell>(recorded, in);
  for (int g = 0; g < gates::count; ++g) {
    traced sum = 0;
    if (int const block = gates::input_block(g); block >= 0) sum = sum + recorded.input(quantity::input_product, block);
    if (bias) sum = sum + recorded.input(quantity::bias, g);
    if (int const block = gates::recurrent_block(g); block >= 0)
      sum = sum + recorded.input(quantity::recurrent_product, block);
    in.gates[g] = sum;
    outputs.push_back({{quantity::preactivation, g, 0}, sum});
  }
  traced next[cell_traits<Cell>::states];
  host_step<Cell>(in, next);
  for (int s = 0; s < cell_traits<Cell>::states; ++s) outputs.push_back({{quantity::next_state, s, 0}, next[s]});
  return tape_builder::build(recorded, outputs);
}

/// Which gradients arrive at a step besides those of the states that the step after it left behind.
struct arriving_gradients {
  bool recurrent;  ///< dh through R; not at the last step
  bool output;     ///< dy
  bool units;      ///< sums of the unit parameters' gradients over the steps so far; not at the last step

  static constexpr unsigned combinations = 8;
  static arriving_gradients combination(unsigned i) { return {(i & 1) != 0, (i & 2) != 0, (i & 4) != 0}; }
  unsigned index() const { return (recurrent ? 1U : 0U) + (output ? 2U : 0U) + (units ? 4U : 0U); }
};

/// The vector-Jacobian product of a step, from saved pre-activations and states.
template <class Cell>
tape record_backward(arriving_gradients const& arriving) {
  using traits = cell_traits<Cell>;
  trace recorded;
  unit_inputs<Cell, traced> in;
  unit_gradients<Cell, traced> out;
  add_cell_inputs<Cell>(recorded, in);
  for (int g = 0; g < traits::gate_count; ++g) in.gates[g] = recorded.input(quantity::preactivation, g);
  traced next[traits::states];
  for (int s = 0; s < traits::states; ++s) next[s] = recorded.input(quantity::state_gradient, s);
  if (arriving.recurrent) next[0] = next[0] + recorded.input(quantity::recurrent_gradient, 0);
  if (arriving.output) next[0] = next[0] + recorded.input(quantity::output_gradient, 0);
  host_backward<Cell>(in, next, out);

  std::vector<tape_output> outputs;
  for (int g = 0; g < traits::gate_count; ++g) outputs.push_back({{quantity::gate_gradient, g, 0}, out.gates[g]});
  for (int s = 0; s < traits::states; ++s) outputs.push_back({{quantity::state_gradient, s, 0}, out.states[s]});
  for (int u = 0; u < traits::unit_parameters; ++u) {
    traced const sum = arriving.units ? recorded.input(quantity::unit_gradient, u) + out.units[u] : out.units[u];
    outputs.push_back({{quantity::unit_gradient, u, 0}, sum});
  }
  return tape_builder::build(recorded, outputs);
}

/// The forward tape of a cell, recorded at the first call.
template <class Cell>
tape const& forward_tape(bool bias) {
  static tape const tapes[] = {record_forward<Cell>(false), record_forward<Cell>(true)};
  return tapes[bias ? 1 : 0];
}

/// The backward tape of a cell, recorded at the first call.
template <class Cell>
tape const& backward_tape(arriving_gradients const& arriving) {
  static std::vector<tape> const tapes = [] {
    std::vector<tape> all;
    for (unsigned i = 0; i < arriving_gradients::combinations; ++i)
      all.push_back(record_backward<Cell>(arriving_gradients::combination(i)));
    return all;
  }();
  return tapes[arriving.index()];
}

/// Planes of [batch, hidden] that hold the intermediate values of a cell, forward and backward.
template <class Cell>
int elementwise_slots() {
  int slots = 0;
  for (bool const bias : {false, true}) slots = (std::max)(slots, forward_tape<Cell>(bias).slots);
  for (unsigned i = 0; i < arriving_gradients::combinations; ++i)
    slots = (std::max)(slots, backward_tape<Cell>(arriving_gradients::combination(i)).slots);
  return slots;
}

/// Runs a tape for one unit, on the host: `load(place)` gives an input, `store(place, value)` takes an output.
template <class T, class Load, class Store>
void run_tape(tape const& program, Load&& load, Store&& store) {
  std::vector<T> slots(static_cast<std::size_t>(program.slots));
  auto const value = [&](place const& p) -> T {
    if (p.what == quantity::constant) return static_cast<T>(p.value);
    return p.what == quantity::slot ? slots[static_cast<std::size_t>(p.index)] : load(p);
  };
  for (tape_operation const& step : program.operations) {
    T result{};
    with_operation(step.kind, [&](auto kind) {
      result = apply<kind.value>(value(step.operands[0]), value(step.operands[1]), value(step.operands[2]));
    });
    if (step.slot >= 0) slots[static_cast<std::size_t>(step.slot)] = result;
    if (step.output) store(*step.output, result);
  }
}

}  // namespace rnnopt::detail

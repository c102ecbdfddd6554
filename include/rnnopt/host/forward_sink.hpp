#pragma once

#include <cstdint>

#include "rnnopt/buffers.hpp"
#include "rnnopt/evaluate.hpp"
#include "rnnopt/host/product.hpp"
#include "rnnopt/host/thread_pool.hpp"

namespace rnnopt::detail {

/// Whether the row takes part at this time.
inline bool is_active(std::int32_t const* lengths, std::int64_t row, std::int64_t time) {
  return lengths == nullptr || time < lengths[row];
}

/// Consecutive row blocks of W or of R.
struct gate_range {
  std::int64_t first;
  std::int64_t count;
};

/// Runs a schedule's forward operations on the host, each where it is emitted.
template <class Cell, class Precision>
class host_forward_sink {
  using traits = cell_traits<Cell>;
  using storage = typename Precision::storage;
  using accumulate = typename Precision::accumulate;
  using state = typename Precision::state;
  static constexpr bool tf32 = Precision::math == matrix_math::tf32;

 public:
  host_forward_sink(forward_arguments<Cell, Precision> const& arguments,
                    forward_buffers<Cell, Precision> const& buffers)
      : a_(arguments), b_(buffers), e_(buffers.e) {}

  /// Puts the initial states (zeros where null) into their slots.
  void begin() {
    for_each_line([&](line const& l, std::int64_t index) {
      std::int64_t const slot = l.direction == 0 ? 0 : e_.steps;
      fill(b_.h(l, slot), a_.initial.h, index);
      for (int s = 1; s < traits::states; ++s) fill(b_.other(s, l, slot), a_.initial.others[std::size_t(s - 1)], index);
    });
  }

  /// Hands out the final states.
  void end() {
    for_each_line([&](line const& l, std::int64_t index) {
      std::int64_t const slot = l.direction == 0 ? e_.steps : 0;
      copy(a_.final.h, b_.h(l, slot), index);
      for (int s = 1; s < traits::states; ++s) copy(a_.final.others[std::size_t(s - 1)], b_.other(s, l, slot), index);
    });
  }

  void input_product(int, line l, std::int64_t first_step, std::int64_t steps) {
    multiply_input(l, first_step, steps, {0, traits::gates::input_count});
  }
  void gate_input_product(int, line l, std::int64_t first_step, std::int64_t steps, std::int64_t gate) {
    multiply_input(l, first_step, steps, {gate, 1});
  }
  void recurrent_product(int, line l, std::int64_t step) {
    multiply_recurrent(l, step, {0, traits::gates::recurrent_count});
  }
  void gate_recurrent_product(int, line l, std::int64_t step, std::int64_t gate) {
    multiply_recurrent(l, step, {gate, 1});
  }

  void pointwise(int, line l, std::int64_t step) {
    std::int64_t const time = time_of(e_, l, step);
    bool const top = l.layer == e_.layers - 1;
    line_weights<storage const> const& weights = a_.weights[index_of(e_, l)];
    accumulate const* const from_input = b_.input_products(l, time);
    accumulate const* const from_recurrent = b_.recurrent_products(l);
    storage* const saved = b_.preactivations(l, time);
    std::int64_t const before = slot_before(l, time), after = slot_after(l, time), hidden = e_.hidden;
    thread_pool::instance().parallel_for(e_.batch, [&](std::int64_t row) {
      bool const active = is_active(a_.lengths, row, time);
      storage* const y =
          top && a_.y != nullptr ? a_.y + ((time * e_.batch + row) * e_.directions + l.direction) * hidden : nullptr;
      for (std::int64_t unit = 0; unit < hidden; ++unit) {
        unit_inputs<Cell, accumulate> in;
        accumulate next[traits::states];
        std::int64_t const at = row * hidden + unit;
        for (int g = 0; g < traits::gate_count; ++g) {
          accumulate sum = 0;
          if (int const block = traits::gates::input_block(g); block >= 0)
            sum += from_input[(row * traits::gates::input_count + block) * hidden + unit];
          if (int const block = traits::gates::recurrent_block(g); block >= 0)
            sum += from_recurrent[(row * traits::gates::recurrent_count + block) * hidden + unit];
          if (weights.bias != nullptr) sum += static_cast<accumulate>(weights.bias[g * hidden + unit]);
          in.gates[g] = sum;
          if (saved != nullptr) saved[(row * traits::gate_count + g) * hidden + unit] = saturate<storage>(sum);
        }
        in.states[0] = static_cast<accumulate>(b_.h(l, before)[at]);
        for (int s = 1; s < traits::states; ++s) in.states[s] = static_cast<accumulate>(b_.other(s, l, before)[at]);
        for (int u = 0; u < traits::unit_parameters; ++u)
          in.units[u] = static_cast<accumulate>(weights.units[u * hidden + unit]);
        if (active) host_step<Cell>(in, next);
        else
          for (int s = 0; s < traits::states; ++s) next[s] = in.states[s];
        b_.h(l, after)[at] = static_cast<storage>(next[0]);
        for (int s = 1; s < traits::states; ++s) b_.other(s, l, after)[at] = static_cast<state>(next[s]);
        if (y != nullptr) y[unit] = active ? static_cast<storage>(next[0]) : storage(0.0F);
      }
    });
  }

  void elementwise(int lane, line l, std::int64_t step) { pointwise(lane, l, step); }
  void step(int lane, line l, std::int64_t step) {
    recurrent_product(lane, l, step);
    pointwise(lane, l, step);
  }
  void sweep(int lane, line l, std::int64_t first_step, std::int64_t steps) {
    for (std::int64_t i = first_step; i < first_step + steps; ++i) step(lane, l, i);
  }

  // One thread runs everything in the order emitted, so lanes need no ordering.
  void signal(int, int) {}
  void wait(int, int) {}

 private:
  /// W x into the columns of these gates; the other columns stay.
  void multiply_input(line const& l, std::int64_t first_step, std::int64_t steps, gate_range const& gates) {
    if (gates.count == 0) return;
    time_range const times = times_of(e_, l, first_step, steps);
    std::int64_t const rows = times.count * e_.batch, inputs = e_.input_of(l.layer);
    std::int64_t const row = traits::gates::input_count * e_.hidden, columns = gates.count * e_.hidden;
    storage const* const w = a_.weights[index_of(e_, l)].input + gates.first * e_.hidden * inputs;
    accumulate* const out = b_.input_products(l, times.first) + gates.first * e_.hidden;
    if (l.layer == 0) {
      product<tf32>(rows, columns, inputs, operand<storage>{a_.x + times.first * e_.batch * inputs, inputs, 1},
                    operand<storage>{w, 1, inputs}, out, row, accumulate(0));
      return;
    }
    // The layer below is one block of columns of W for each of its directions.
    for (std::int64_t d = 0; d < e_.directions; ++d) {
      line const below{l.layer - 1, d};
      product<tf32>(rows, columns, e_.hidden,
                    operand<storage>{b_.h(below, slot_after(below, times.first)), e_.hidden, 1},
                    operand<storage>{w + d * e_.hidden, 1, inputs}, out, row, accumulate(d == 0 ? 0 : 1));
    }
  }

  /// R h into the columns of these gates; the other columns stay.
  void multiply_recurrent(line const& l, std::int64_t step, gate_range const& gates) {
    if (gates.count == 0) return;
    std::int64_t const row = traits::gates::recurrent_count * e_.hidden, offset = gates.first * e_.hidden;
    product<tf32>(e_.batch, gates.count * e_.hidden, e_.hidden,
                  operand<storage>{b_.h(l, slot_before(l, time_of(e_, l, step))), e_.hidden, 1},
                  operand<storage>{a_.weights[index_of(e_, l)].recurrent + offset * e_.hidden, 1, e_.hidden},
                  b_.recurrent_products(l) + offset, row, accumulate(0));
  }

  template <class Function>
  void for_each_line(Function&& function) {
    for (std::int64_t layer = 0; layer < e_.layers; ++layer)
      for (std::int64_t direction = 0; direction < e_.directions; ++direction)
        function(line{layer, direction}, layer * e_.directions + direction);
  }
  template <class T>
  void fill(T* slot, T const* from, std::int64_t index) {
    for (std::int64_t i = 0; i < b_.plane(); ++i) slot[i] = from != nullptr ? from[index * b_.plane() + i] : T(0.0F);
  }
  template <class T>
  void copy(T* to, T const* slot, std::int64_t index) {
    if (to == nullptr) return;
    for (std::int64_t i = 0; i < b_.plane(); ++i) to[index * b_.plane() + i] = slot[i];
  }

  forward_arguments<Cell, Precision> const& a_;
  forward_buffers<Cell, Precision> const& b_;
  extents const& e_;
};

}  // namespace rnnopt::detail

#pragma once

#include <cstdint>

#include "rnnopt/host/forward_sink.hpp"

namespace rnnopt::detail {

/// Runs a schedule's backward operations on the host, each where it is emitted.
template <class Cell, class Precision>
class host_backward_sink {
  using traits = cell_traits<Cell>;
  using gates = typename traits::gates;
  using storage = typename Precision::storage;
  using accumulate = typename Precision::accumulate;
  using state = typename Precision::state;
  static constexpr bool tf32 = Precision::math == matrix_math::tf32;

 public:
  host_backward_sink(backward_arguments<Cell, Precision> const& arguments,
                     backward_buffers<Cell, Precision> const& buffers)
      : a_(arguments), b_(buffers), e_(buffers.e) {}

  /// Starts the gradients that are carried backward: those of the final states, or zeros.
  void begin() {
    std::int64_t const plane = b_.plane();
    for (std::int64_t index = 0; index < e_.lines(); ++index) {
      line const l{index / e_.directions, index % e_.directions};
      for (std::int64_t i = 0; i < plane; ++i) {
        b_.state_gradients(l, 0)[i] =
            a_.final_gradient.h != nullptr ? static_cast<accumulate>(a_.final_gradient.h[index * plane + i]) : 0;
        for (int s = 1; s < traits::states; ++s) {
          state const* const from = a_.final_gradient.others[std::size_t(s - 1)];
          b_.state_gradients(l, s)[i] = from != nullptr ? static_cast<accumulate>(from[index * plane + i]) : 0;
        }
        b_.recurrent_gradients(l)[i] = 0;
        for (int u = 0; u < traits::unit_parameters; ++u) b_.unit_gradients(l, u)[i] = 0;
      }
    }
  }

  /// Hands out the gradients of the initial states.
  void end() {
    std::int64_t const plane = b_.plane();
    for (std::int64_t index = 0; index < e_.lines(); ++index) {
      line const l{index / e_.directions, index % e_.directions};
      for (std::int64_t i = 0; i < plane; ++i) {
        if (a_.initial_gradient.h != nullptr)
          a_.initial_gradient.h[index * plane + i] =
              static_cast<storage>(b_.state_gradients(l, 0)[i] + b_.recurrent_gradients(l)[i]);
        for (int s = 1; s < traits::states; ++s)
          if (state* const to = a_.initial_gradient.others[std::size_t(s - 1)]; to != nullptr)
            to[index * plane + i] = static_cast<state>(b_.state_gradients(l, s)[i]);
      }
    }
  }

  void pointwise_gradient(int, line l, std::int64_t step) {
    std::int64_t const time = time_of(e_, l, step);
    std::int64_t const before = slot_before(l, time), hidden = e_.hidden;
    line_weights<storage const> const& weights = a_.weights[index_of(e_, l)];
    storage const* const saved = b_.preactivations(l, time);
    storage const* const dy_all = l.layer == e_.layers - 1 ? a_.dy : b_.layer_gradients(l.layer, 0);
    storage* const to_input = b_.input_gate_gradients(l, time);
    storage* const to_recurrent = b_.recurrent_gate_gradients(l, time);
    thread_pool::instance().parallel_for(e_.batch, [&](std::int64_t row) {
      bool const active = is_active(a_.lengths, row, time);
      storage const* const dy =
          dy_all != nullptr ? dy_all + ((time * e_.batch + row) * e_.directions + l.direction) * hidden : nullptr;
      for (std::int64_t unit = 0; unit < hidden; ++unit) {
        std::int64_t const at = row * hidden + unit;
        accumulate next[traits::states];
        next[0] = b_.state_gradients(l, 0)[at] + b_.recurrent_gradients(l)[at];
        for (int s = 1; s < traits::states; ++s) next[s] = b_.state_gradients(l, s)[at];
        unit_gradients<Cell, accumulate> out{};
        if (active) {
          if (dy != nullptr) next[0] += static_cast<accumulate>(dy[unit]);
          unit_inputs<Cell, accumulate> in;
          for (int g = 0; g < traits::gate_count; ++g)
            in.gates[g] = static_cast<accumulate>(saved[(row * traits::gate_count + g) * hidden + unit]);
          in.states[0] = static_cast<accumulate>(b_.h(l, before)[at]);
          for (int s = 1; s < traits::states; ++s) in.states[s] = static_cast<accumulate>(b_.other(s, l, before)[at]);
          for (int u = 0; u < traits::unit_parameters; ++u)
            in.units[u] = static_cast<accumulate>(weights.units[u * hidden + unit]);
          host_backward<Cell, accumulate>(in, next, out);
          for (int u = 0; u < traits::unit_parameters; ++u) b_.unit_gradients(l, u)[at] += out.units[u];
        } else {
          for (int s = 0; s < traits::states; ++s) out.states[s] = next[s];
        }
        for (int g = 0; g < traits::gate_count; ++g) {
          storage const rounded = static_cast<storage>(out.gates[g]);
          if (int const block = gates::input_block(g); block >= 0)
            to_input[(row * gates::input_count + block) * hidden + unit] = rounded;
          if (int const block = gates::recurrent_block(g); block >= 0)
            to_recurrent[(row * gates::recurrent_count + block) * hidden + unit] = rounded;
        }
        for (int s = 0; s < traits::states; ++s) b_.state_gradients(l, s)[at] = out.states[s];
        b_.recurrent_gradients(l)[at] = 0;
      }
    });
  }

  void elementwise_gradient(int lane, line l, std::int64_t step) { pointwise_gradient(lane, l, step); }
  void step_gradient(int lane, line l, std::int64_t step) {
    if (step + 1 < e_.steps) recurrent_gradient(lane, l, step + 1);
    pointwise_gradient(lane, l, step);
  }
  void sweep_gradient(int lane, line l, std::int64_t first_step, std::int64_t steps) {
    for (std::int64_t i = first_step + steps - 1; i >= first_step; --i) step_gradient(lane, l, i);
  }

  void recurrent_gradient(int, line l, std::int64_t step) {
    if (gates::recurrent_count > 0) multiply_recurrent(l, step, {0, gates::recurrent_count});
  }
  void gate_recurrent_gradient(int, line l, std::int64_t step, std::int64_t gate) {
    multiply_recurrent(l, step, {gate, 1});
  }
  void input_gradient(int, line l, std::int64_t first_step, std::int64_t steps) {
    multiply_input(l, first_step, steps, {0, gates::input_count});
  }
  void gate_input_gradient(int, line l, std::int64_t first_step, std::int64_t steps, std::int64_t gate) {
    multiply_input(l, first_step, steps, {gate, 1});
  }

  void weight_gradient(int, line l) {
    line_weights<accumulate> const& out = a_.gradients[index_of(e_, l)];
    std::int64_t const inputs = e_.input_of(l.layer), hidden = e_.hidden;
    std::int64_t const input_width = gates::input_count * hidden, recurrent_width = gates::recurrent_count * hidden;
    if (out.input != nullptr) {
      if (l.layer == 0) {
        outer_products(b_.input_gate_gradients(l, 0), input_width, a_.x, inputs, out.input, inputs);
      } else {
        for (std::int64_t d = 0; d < e_.directions; ++d) {
          line const below{l.layer - 1, d};
          outer_products(b_.input_gate_gradients(l, 0), input_width, b_.h(below, slot_after(below, 0)), hidden,
                         out.input + d * hidden, inputs);
        }
      }
    }
    if (out.recurrent != nullptr)
      outer_products(b_.recurrent_gate_gradients(l, 0), recurrent_width, b_.h(l, slot_before(l, 0)), hidden,
                     out.recurrent, hidden);
    if (out.bias != nullptr)
      for (int g = 0; g < traits::gate_count; ++g) {
        bool const in_input = gates::input_block(g) >= 0;
        storage const* const from = in_input ? b_.input_gate_gradients(l, 0) + gates::input_block(g) * hidden
                                             : b_.recurrent_gate_gradients(l, 0) + gates::recurrent_block(g) * hidden;
        sum_rows(from, e_.steps * e_.batch, in_input ? input_width : recurrent_width, out.bias + g * hidden);
      }
    if (out.units != nullptr)
      for (int u = 0; u < traits::unit_parameters; ++u)
        sum_rows(b_.unit_gradients(l, u), e_.batch, hidden, out.units + u * hidden);
  }

  void signal(int, int) {}
  void wait(int, int) {}

 private:
  /// What these gates' gradients pass through R; those of the first gate overwrite, the others are added.
  void multiply_recurrent(line const& l, std::int64_t step, gate_range const& range) {
    std::int64_t const row = gates::recurrent_count * e_.hidden, offset = range.first * e_.hidden;
    product<tf32>(e_.batch, e_.hidden, range.count * e_.hidden,
                  operand<storage>{b_.recurrent_gate_gradients(l, time_of(e_, l, step)) + offset, row, 1},
                  operand<storage>{a_.weights[index_of(e_, l)].recurrent + offset * e_.hidden, e_.hidden, 1},
                  b_.recurrent_gradients(l), e_.hidden, accumulate(range.first == 0 ? 0 : 1));
  }

  /// What these gates' gradients pass through W; those of the first gate and direction overwrite.
  void multiply_input(line const& l, std::int64_t first_step, std::int64_t steps, gate_range const& range) {
    time_range const times = times_of(e_, l, first_step, steps);
    std::int64_t const inputs = e_.input_of(l.layer);
    std::int64_t const row = gates::input_count * e_.hidden, offset = range.first * e_.hidden;
    storage* const out = l.layer == 0 ? (a_.dx != nullptr ? a_.dx + times.first * e_.batch * inputs : nullptr)
                                      : b_.layer_gradients(l.layer - 1, times.first);
    if (out == nullptr) return;
    product<tf32>(times.count * e_.batch, inputs, range.count * e_.hidden,
                  operand<storage>{b_.input_gate_gradients(l, times.first) + offset, row, 1},
                  operand<storage>{a_.weights[index_of(e_, l)].input + offset * inputs, inputs, 1}, out, inputs,
                  accumulate(l.direction == 0 && range.first == 0 ? 0 : 1));
  }

  /// out [width, inputs] (+)= gate_gradients [steps, batch, width]^T x [steps, batch, inputs], over active rows only:
  /// what x holds beyond a row's length, NaN included, takes no part.
  void outer_products(storage const* gate_gradients, std::int64_t width, storage const* x, std::int64_t inputs,
                      accumulate* out, std::int64_t out_row) {
    accumulate beta = a_.mode == gradient_mode::accumulate ? 1 : 0;
    if (a_.lengths == nullptr) {
      product<tf32>(width, inputs, e_.steps * e_.batch, operand<storage>{gate_gradients, 1, width},
                    operand<storage>{x, inputs, 1}, out, out_row, beta);
      return;
    }
    if (e_.batch == 0 || e_.steps == 0) {
      product<tf32>(width, inputs, std::int64_t(0), operand<storage>{gate_gradients, 1, width},
                    operand<storage>{x, inputs, 1}, out, out_row, beta);
      return;
    }
    for (std::int64_t row = 0; row < e_.batch; ++row, beta = 1)
      product<tf32>(width, inputs, std::int64_t(a_.lengths[row]),
                    operand<storage>{gate_gradients + row * width, 1, e_.batch * width},
                    operand<storage>{x + row * inputs, e_.batch * inputs, 1}, out, out_row, beta);
  }

  /// out [hidden] (+)= sum over rows; in double, so that long sequences lose nothing.
  template <class T>
  void sum_rows(T const* from, std::int64_t rows, std::int64_t stride, accumulate* out) {
    for (std::int64_t unit = 0; unit < e_.hidden; ++unit) {
      double sum = a_.mode == gradient_mode::accumulate ? static_cast<double>(out[unit]) : 0;
      for (std::int64_t row = 0; row < rows; ++row)
        sum += static_cast<double>(static_cast<accumulate>(from[row * stride + unit]));
      out[unit] = static_cast<accumulate>(sum);
    }
  }

  backward_arguments<Cell, Precision> const& a_;
  backward_buffers<Cell, Precision> const& b_;
  extents const& e_;
};

}  // namespace rnnopt::detail

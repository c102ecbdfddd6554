#pragma once

#include <rnnopt/cell.hpp>

namespace cells {

/// LSTM whose gates see the memory: i and f the old one, o the new one, each through one weight per unit.
/// Gers et al. 2002, Learning Precise Timing with LSTM Recurrent Networks, section 3.
struct peephole_lstm {
  using gates = rnnopt::gates<rnnopt::feed::both, rnnopt::feed::both, rnnopt::feed::both, rnnopt::feed::both>;
  static constexpr int states = 2;
  static constexpr int unit_parameters = 3;

  template <class Gates, class States, class Units>
  RNNOPT_HD static auto step(Gates const& pre, States const& previous, Units const& peepholes) {
    auto const& [i, f, g, o] = pre;
    auto const& [h, c] = previous;
    auto const& [p_i, p_f, p_o] = peepholes;
    auto const c_next = sigmoid(f + p_f * c) * c + sigmoid(i + p_i * c) * tanh(g);
    return rnnopt::pack(sigmoid(o + p_o * c_next) * tanh(c_next), c_next);
  }
};

}  // namespace cells

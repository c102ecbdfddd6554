#pragma once

#include <rnnopt/cell.hpp>

namespace cells {

/// LSTM that forgets as much as it takes in: f = 1 - i, hence three gates.
/// Greff et al. 2017, LSTM: A Search Space Odyssey, section III (CIFG).
struct coupled_lstm {
  using gates = rnnopt::gates<rnnopt::feed::both, rnnopt::feed::both, rnnopt::feed::both>;
  static constexpr int states = 2;

  template <class Gates, class States>
  RNNOPT_HD static auto step(Gates const& pre, States const& previous) {
    auto const& [i, g, o] = pre;
    auto const& [h, c] = previous;
    auto const input = sigmoid(i);
    auto const c_next = (1 - input) * c + input * tanh(g);
    return rnnopt::pack(sigmoid(o) * tanh(c_next), c_next);
  }
};

}  // namespace cells

#pragma once

#include <rnnopt/cell.hpp>

namespace cells {

/// Minimal gated unit: one gate forgets and resets; the reset comes after the recurrent product, as in a GRU.
/// Zhou et al. 2016, Minimal Gated Unit for Recurrent Neural Networks, equations 6.
struct minimal_gated_unit {
  using gates = rnnopt::gates<rnnopt::feed::both, rnnopt::feed::input, rnnopt::feed::recurrent>;
  static constexpr int states = 1;

  template <class Gates, class States>
  RNNOPT_HD static auto step(Gates const& pre, States const& previous) {
    auto const& [f, n_x, n_h] = pre;
    auto const& [h] = previous;
    auto const forget = sigmoid(f);
    return rnnopt::pack((1 - forget) * h + forget * tanh(n_x + forget * n_h));
  }
};

}  // namespace cells

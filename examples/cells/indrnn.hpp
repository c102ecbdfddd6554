#pragma once

#include <rnnopt/cell.hpp>

namespace cells {

/// Independently recurrent network: a unit sees only its own past, through one weight; there is no matrix R.
/// Li et al. 2018, Independently Recurrent Neural Network (IndRNN), equation 2.
struct indrnn {
  using gates = rnnopt::gates<rnnopt::feed::input>;
  static constexpr int states = 1;
  static constexpr int unit_parameters = 1;

  template <class Gates, class States, class Units>
  RNNOPT_HD static auto step(Gates const& pre, States const& previous, Units const& units) {
    auto const& [a] = pre;
    auto const& [h] = previous;
    auto const& [u] = units;
    return rnnopt::pack(relu(a + u * h));
  }
};

}  // namespace cells

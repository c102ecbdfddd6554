#pragma once

#include "rnnopt/cell.hpp"

namespace rnnopt {

/// @brief The activations a vanilla cell may be given: a function of the pre-activation, and its gradient.
namespace activations {

/// @brief Hyperbolic tangent.
struct tanh {
  template <class T>
  RNNOPT_HD static auto value(T const& a) {
    return rnnopt::tanh(a);
  }
  /// @brief The gradient of a from that of the value.
  template <class T>
  RNNOPT_HD static auto gradient(T const& a, T const& value_gradient) {
    auto const h = rnnopt::tanh(a);
    return value_gradient * (1 - h * h);
  }
};

/// @brief max(a, 0); slope 0 at 0.
struct relu {
  template <class T>
  RNNOPT_HD static auto value(T const& a) {
    return rnnopt::relu(a);
  }
  /// @brief The gradient of a from that of the value.
  template <class T>
  RNNOPT_HD static auto gradient(T const& a, T const& value_gradient) {
    return select(a <= 0, 0, value_gradient);
  }
};

}  // namespace activations

/// @brief The simple recurrent cell h = activation(W x + R h' + b); one gate, one state (Elman 1990).
template <class Activation>
struct vanilla {
  using gates = rnnopt::gates<feed::both>;
  static constexpr int states = 1;

  template <class Gates, class States>
  RNNOPT_HD static auto step(Gates const& pre, States const&) {
    return pack(Activation::value(get<0>(pre)));
  }

  template <class Gates, class States, class Next>
  RNNOPT_HD static auto backward(Gates const& pre, States const&, Next const& next) {
    return gradients(pack(Activation::gradient(get<0>(pre), get<0>(next))), pack(0));
  }
};

}  // namespace rnnopt

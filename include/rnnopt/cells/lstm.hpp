#pragma once

#include "rnnopt/cell.hpp"

namespace rnnopt {

/// @brief Long short-term memory; gates i, f, g, o; states h, c.
///
/// c = sigmoid(f) c' + sigmoid(i) tanh(g), h = sigmoid(o) tanh(c): Hochreiter and Schmidhuber 1997 with the forget gate
/// of Gers et al. 2000; gate order of cuDNN and PyTorch.
struct lstm {
  using gates = rnnopt::gates<feed::both, feed::both, feed::both, feed::both>;
  static constexpr int states = 2;

  template <class Gates, class States>
  RNNOPT_HD static auto step(Gates const& pre, States const& previous) {
    auto const& [i, f, g, o] = pre;
    auto const& [h, c] = previous;
    auto const c_next = sigmoid(f) * c + sigmoid(i) * tanh(g);
    return pack(sigmoid(o) * tanh(c_next), c_next);
  }

  template <class Gates, class States, class Next>
  RNNOPT_HD static auto backward(Gates const& pre, States const& previous, Next const& next) {
    auto const i = sigmoid(get<0>(pre));
    auto const f = sigmoid(get<1>(pre));
    auto const g = tanh(get<2>(pre));
    auto const o = sigmoid(get<3>(pre));
    auto const c = get<1>(previous);
    auto const t = tanh(f * c + i * g);
    auto const dh = get<0>(next);
    auto const dc = get<1>(next) + dh * o * (1 - t * t);
    return gradients(pack(dc * g * i * (1 - i), dc * c * f * (1 - f), dc * i * (1 - g * g), dh * t * o * (1 - o)),
                     pack(0, dc * f));
  }
};

}  // namespace rnnopt

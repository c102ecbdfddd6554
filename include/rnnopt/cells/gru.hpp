#pragma once

#include "rnnopt/cell.hpp"

namespace rnnopt {

/// @brief Gated recurrent unit with the reset gate applied after the recurrent product; gates r, z, n_x, n_h; state h.
///
/// n = tanh(n_x + r n_h), h = (1 - z) n + z h', with r and z through the logistic function: Cho et al. 2014 in the
/// form of cuDNN and PyTorch. n_x carries the input's bias of the candidate, n_h the recurrent one.
struct gru {
  using gates = rnnopt::gates<feed::both, feed::both, feed::input, feed::recurrent>;
  static constexpr int states = 1;

  template <class Gates, class States>
  RNNOPT_HD static auto step(Gates const& pre, States const& previous) {
    auto const& [r, z, n_x, n_h] = pre;
    auto const& [h] = previous;
    auto const n = tanh(n_x + sigmoid(r) * n_h);
    auto const keep = sigmoid(z);
    return pack((1 - keep) * n + keep * h);
  }

  template <class Gates, class States, class Next>
  RNNOPT_HD static auto backward(Gates const& pre, States const& previous, Next const& next) {
    auto const r = sigmoid(get<0>(pre));
    auto const z = sigmoid(get<1>(pre));
    auto const n_h = get<3>(pre);
    auto const n = tanh(get<2>(pre) + r * n_h);
    auto const h = get<0>(previous);
    auto const dh = get<0>(next);
    auto const dn = dh * (1 - z) * (1 - n * n);
    return gradients(pack(dn * n_h * r * (1 - r), dh * (h - n) * z * (1 - z), dn, dn * r), pack(dh * z));
  }
};

}  // namespace rnnopt

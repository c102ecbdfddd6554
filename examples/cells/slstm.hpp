#pragma once

#include <rnnopt/cell.hpp>

namespace cells {

/// sLSTM: an exponential input gate, hence a normaliser n and, against overflow, a stabiliser m; states h, c, n, m.
/// Beck et al. 2024, xLSTM: Extended Long Short-Term Memory, equations 8 to 17, with the sigmoid forget gate.
struct slstm {
  using gates = rnnopt::gates<rnnopt::feed::both, rnnopt::feed::both, rnnopt::feed::both, rnnopt::feed::both>;
  static constexpr int states = 4;

  template <class Gates, class States>
  RNNOPT_HD static auto step(Gates const& pre, States const& previous) {
    auto const& [i, f, z, o] = pre;
    auto const& [h, c, n, m] = previous;
    auto const log_forget = m - softplus(-f);  // log(sigmoid(f)) on the scale of the stabiliser
    auto const m_next = max(log_forget, i);
    auto const input = exp(i - m_next);
    auto const forget = exp(log_forget - m_next);
    auto const c_next = forget * c + input * tanh(z);
    auto const n_next = forget * n + input;
    // From zero states n can be arbitrarily small; the bound keeps h and its gradient finite.
    return rnnopt::pack(sigmoid(o) * c_next / max(n_next, 1e-6), c_next, n_next, m_next);
  }
};

}  // namespace cells

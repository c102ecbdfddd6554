#pragma once

#include <cstddef>

#include "rnnopt/config.hpp"

namespace rnnopt {

/// @brief What feeds a gate's pre-activation (each gate has one bias besides).
enum class feed {
  both,      ///< W x + R h
  input,     ///< W x only
  recurrent  ///< R h only
};

/// @brief The ordered list of a cell's gates.
///
/// W has one block of `hidden` rows for each gate that the input feeds, in this order; R has one for each gate that h
/// feeds, in this order; the bias has one block for every gate. LSTM: W 4, R 4, bias 4. GRU with the reset after the
/// product, `gates<both, both, input, recurrent>` for r, z, n_x, n_h: W r z n_x, R r z n_h, bias r z n_x n_h.
template <feed... Feeds>
struct gates {
  static_assert(sizeof...(Feeds) > 0,
                "rnnopt: a cell needs a gate; write using gates = rnnopt::gates<rnnopt::feed::both>");

  /// @brief Number of gates.
  static constexpr int count = static_cast<int>(sizeof...(Feeds));

  /// @brief What feeds gate `g`.
  RNNOPT_HD static constexpr feed of(int g) {
    feed const list[] = {Feeds...};
    return list[g];
  }
  /// @brief Number of gates that W x feeds.
  static constexpr int input_count = ((Feeds != feed::recurrent ? 1 : 0) + ...);
  /// @brief Number of gates that R h feeds.
  static constexpr int recurrent_count = ((Feeds != feed::input ? 1 : 0) + ...);
  /// @brief Whether W and R have the same rows, so that one gradient buffer serves both.
  static constexpr bool same_rows = input_count == count && recurrent_count == count;

  /// @brief Row block of W for gate `g`, or -1.
  RNNOPT_HD static constexpr int input_block(int g) {
    if (of(g) == feed::recurrent) return -1;
    int block = 0;
    for (int i = 0; i < g; ++i) block += of(i) != feed::recurrent ? 1 : 0;
    return block;
  }
  /// @brief Row block of R for gate `g`, or -1.
  RNNOPT_HD static constexpr int recurrent_block(int g) {
    if (of(g) == feed::input) return -1;
    int block = 0;
    for (int i = 0; i < g; ++i) block += of(i) != feed::input ? 1 : 0;
    return block;
  }
};

}  // namespace rnnopt

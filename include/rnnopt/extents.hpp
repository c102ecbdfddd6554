#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "rnnopt/error.hpp"

namespace rnnopt {

/// @brief The run-time sizes of a network.
///
/// Layer 0 reads [steps, batch, input]; layer l > 0 reads the output of the layer below, [steps, batch, directions *
/// hidden].
struct extents {
  std::int64_t layers = 1;      ///< stacked layers, at least 1
  std::int64_t input = 1;       ///< width of x, at least 1
  std::int64_t hidden = 1;      ///< units per layer and direction, at least 1
  std::int64_t batch = 1;       ///< rows, 0 is valid
  std::int64_t steps = 1;       ///< time steps, 0 is valid
  std::int64_t directions = 1;  ///< 1: forward in time; 2: both, outputs concatenated [forward, reversed]

  /// @brief Number of lines: a line is one layer in one direction, which carries a hidden state through time.
  ///
  /// Line (layer, direction) has index layer * directions + direction; weights and states are ordered by it.
  constexpr std::int64_t lines() const { return layers * directions; }

  /// @brief Width of what the given layer reads.
  constexpr std::int64_t input_of(std::int64_t layer) const { return layer == 0 ? input : directions * hidden; }
};

/// @brief The counts of a cell as run-time numbers: all that sizes and layouts depend on.
struct cell_shape {
  int gates;            ///< blocks of the bias and of saved pre-activations
  int input_gates;      ///< row blocks of W
  int recurrent_gates;  ///< row blocks of R
  bool same_rows;       ///< every gate is fed by both, so W and R have the same rows
  int states;           ///< state 0 is h
  int unit_parameters;  ///< scalars per hidden unit
};

namespace detail {

/// Product of non-negative sizes; throws size_overflow instead of wrapping.
template <class... Sizes>
std::int64_t checked_product(std::string const& where, Sizes... sizes) {
  std::int64_t result = 1;
  bool zero = false;
  for (std::int64_t size : {static_cast<std::int64_t>(sizes)...}) zero = zero || size == 0;
  if (zero) return 0;
  for (std::int64_t size : {static_cast<std::int64_t>(sizes)...}) {
    if (result > (std::numeric_limits<std::int64_t>::max)() / size)
      fail(errc::size_overflow, where, "a size does not fit in 64 bits", "use smaller extents");
    result *= size;
  }
  return result;
}

/// Sum of non-negative sizes; throws size_overflow instead of wrapping.
inline std::int64_t checked_sum(std::string const& where, std::int64_t a, std::int64_t b) {
  if (a > (std::numeric_limits<std::int64_t>::max)() - b)
    fail(errc::size_overflow, where, "a size does not fit in 64 bits", "use smaller extents");
  return a + b;
}

inline void check_extents(std::string const& where, extents const& e) {
  auto const positive = [&](char const* name, std::int64_t value) {
    if (value < 1)
      fail(errc::extent_not_positive, where, std::string(name) + " is " + std::to_string(value) + ", needs at least 1");
  };
  auto const not_negative = [&](char const* name, std::int64_t value) {
    if (value < 0)
      fail(errc::extent_negative, where, std::string(name) + " is " + std::to_string(value) + ", needs at least 0");
  };
  positive("layers", e.layers);
  positive("input", e.input);
  positive("hidden", e.hidden);
  not_negative("batch", e.batch);
  not_negative("steps", e.steps);
  if (e.directions != 1 && e.directions != 2)
    fail(errc::directions_unknown, where, "directions is " + std::to_string(e.directions) + ", needs 1 or 2");
  // What one product or one kernel launch has to index on its own.
  auto const below_2_31 = [&](char const* name, std::int64_t value) {
    if (value > (std::numeric_limits<std::int32_t>::max)())
      fail(errc::extent_too_large, where, std::string(name) + " is " + std::to_string(value) + ", needs below 2^31");
  };
  below_2_31("layers", e.layers);
  below_2_31("input", e.input);
  below_2_31("hidden", e.hidden);
  below_2_31("batch", e.batch);
  below_2_31("steps", e.steps);
}

/// As above, and the largest arrays that the caller brings have a size in bytes.
inline void check_extents(std::string const& where, extents const& e, cell_shape const& cell,
                          std::int64_t element_bytes) {
  check_extents(where, e);
  checked_product(where, e.steps, e.batch, e.input, element_bytes);
  for (std::int64_t layer = 0; layer < e.layers && layer < 2; ++layer)
    checked_product(where, cell.input_gates, e.hidden, e.input_of(layer), element_bytes);
  checked_product(where, cell.recurrent_gates, e.hidden, e.hidden, element_bytes);
}

}  // namespace detail
}  // namespace rnnopt

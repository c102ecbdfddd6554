#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

/// What numbers may be, for the command line and for checkpoints alike.

namespace char_lm {

inline std::vector<std::string> const& cell_names() {
  static std::vector<std::string> const names{"lstm", "gru", "vanilla", "mgu", "slstm"};
  return names;
}

namespace limits {

struct range {
  std::int64_t least, most;
  bool holds(std::int64_t value) const { return least <= value && value <= most; }
};

inline constexpr range layers{1, 64};
inline constexpr range units{1, 8192};
inline constexpr range batch{1, 4096};
inline constexpr range steps{1, 4096};
inline constexpr range iterations{0, 1'000'000'000};
inline constexpr range iterations_done{0, 1'000'000'000'000};  // over any number of runs
inline constexpr range epochs{1, 1'000'000};
inline constexpr range sample{0, 1'000'000'000};
inline constexpr range seed{0, INT64_MAX};

// Below the first a number is none as a float: zero, or one of those that a processor may take for zero.
inline constexpr double least_factor = 1e-37, most_factor = 1e9;

// Asked of their bits: the program is compiled to assume that no number is infinite or NaN. Bits of positive numbers
// are in the order of the numbers, those of negative ones and of NaN above all that are allowed.

inline std::uint64_t bits_of(double value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline std::uint32_t bits_of(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// Rates, norms, temperatures and seconds.
inline bool is_factor(double value) {
  return bits_of(least_factor) <= bits_of(value) && bits_of(value) <= bits_of(most_factor);
}

/// Whether it is a number of at most this magnitude.
inline bool within(float largest, float value) { return (bits_of(value) & 0x7fffffffU) <= bits_of(largest); }

inline bool within(float largest, std::vector<float> const& values) {
  return std::all_of(values.begin(), values.end(), [&](float value) { return within(largest, value); });
}

}  // namespace limits

}  // namespace char_lm

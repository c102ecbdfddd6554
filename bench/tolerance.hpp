#pragma once

#include <optional>
#include <string>

namespace bench {

/// Largest relative error of a pass that computes the right thing: far above rounding, far below a mistake.
inline double largest_error(std::string const& precision) {
  if (precision == "fp64") return 1e-8;
  if (precision == "fp32") return 1e-3;
  return 0.1;
}

inline bool is_wrong(std::optional<double> const& error, std::string const& precision) {
  return error && !(*error <= largest_error(precision));  // NaN is wrong
}

}  // namespace bench

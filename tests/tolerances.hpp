#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "rnnopt/precision.hpp"

/// How far a result may be from its reference: the only place where tests of numbers get their bounds.

namespace rnnopt_tests {

/// Bound on relative_error(result, reference) for sequences of so many steps.
///
/// fp64 and fp32 are held against a reference in double. The error of a sum of independent roundings grows with the
/// square root of their number: 2e-6 is about 16 float roundings of 2^-24 for the products, functions and blends of one
/// step.
///
/// fp16 and bf16 are held against host_rnn of the same precision, which rounds at the same places; what is left
/// is the order of the float sums. Where a sum falls near a midpoint, that order decides which neighbour is stored, and
/// later steps carry the difference on, until two runs are as far apart as independent roundings. The bound is one
/// rounding for each step, in the root of the mean square, which is 0.4 units: 2^-12 for fp16, 2^-9 for bf16. Measured
/// with reversed inputs at hidden 256 and 50 steps, 3 layers: below 2e-4 for outputs of fp16 and 8e-4 for gradients,
/// with a bound of 1.7e-3. tf32 is held against double, by the host's own distance from it (network_cases.cuh); 2^-10
/// is the most that this may be taken to be for a few numbers, since hardware may cut operands off where the host
/// rounds them to nearest, and then two operands are off by 2^-11 each on average.
template <class Precision>
double tolerance(std::int64_t steps);

namespace detail {
inline double root(std::int64_t steps) { return std::sqrt(static_cast<double>(steps < 1 ? 1 : steps)); }
}  // namespace detail

template <>
inline double tolerance<rnnopt::fp64>(std::int64_t) {
  return 1e-11;
}
template <>
inline double tolerance<rnnopt::fp32>(std::int64_t steps) {
  return 2e-6 * detail::root(steps);
}
template <>
inline double tolerance<rnnopt::tf32>(std::int64_t steps) {
  return std::ldexp(1.0, -10) * detail::root(steps);
}
template <>
inline double tolerance<rnnopt::fp16>(std::int64_t steps) {
  return std::ldexp(1.0, -12) * detail::root(steps);
}
template <>
inline double tolerance<rnnopt::bf16>(std::int64_t steps) {
  return std::ldexp(1.0, -9) * detail::root(steps);
}

/// |got - reference| / |reference| in the Euclidean norm. Infinite where anything is not finite, where sizes differ,
/// and where the reference is zero and the result is not: none of these is ever within a bound.
template <class A, class B>
double relative_error(std::vector<A> const& got, std::vector<B> const& reference) {
  double constexpr infinite = std::numeric_limits<double>::infinity();
  if (got.size() != reference.size()) return infinite;
  double apart = 0, size = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    double const a = static_cast<double>(got[i]), b = static_cast<double>(reference[i]);
    if (!std::isfinite(a) || !std::isfinite(b)) return infinite;
    apart += (a - b) * (a - b);
    size += b * b;
  }
  if (apart == 0) return 0;
  return size == 0 ? infinite : std::sqrt(apart / size);
}

}  // namespace rnnopt_tests

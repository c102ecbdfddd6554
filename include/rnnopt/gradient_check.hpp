#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <random>
#include <string>

#include "rnnopt/evaluate.hpp"

namespace rnnopt {

/// @brief The worst disagreement of one comparison, and where it was.
struct gradient_disagreement {
  double error = 0;   ///< |a - b| / max(1, |a|, |b|); infinite where either is not finite
  std::string where;  ///< which derivative at which point, with both values; empty if error is 0
};

/// @brief What gradient_check found.
struct gradient_check_result {
  gradient_disagreement derived;    ///< derived backward against central differences
  gradient_disagreement written;    ///< hand-written backward against central differences
  gradient_disagreement agreement;  ///< hand-written against derived backward
  bool has_written = false;         ///< whether the cell brings a backward; without one the last two stay zero
  int points = 0;                   ///< how many random points were compared
  std::uint64_t seed = 0;           ///< gives the same points again

  /// @brief Whether anything was compared, differences agree within `differences` and the two backwards within
  /// `backwards`.
  bool passes(double differences = 1e-7, double backwards = 1e-12) const {
    return points > 0 && derived.error <= differences && written.error <= differences && agreement.error <= backwards;
  }
};

namespace detail {

template <class Cell>
class gradient_checker {
  using traits = cell_traits<Cell>;

 public:
  explicit gradient_checker(std::uint64_t seed) : generator_(seed) { result_.seed = seed; }

  gradient_check_result run(int points) {
    for (; result_.points < points; ++result_.points) check_point();
    return result_;
  }

 private:
  /// Pre-activations and unit parameters at random; states as the cell reaches them from zero in a few random steps,
  /// because not every number is a state (a normaliser is positive). Every fourth point lies far out: gates saturated,
  /// states after many steps.
  void draw() {
    for (double& unit : in_.units) unit = 0.5 * normal_(generator_);
    for (double& state : in_.states) state = 0;
    bool const far = result_.points % 4 == 3;
    scale_ = far ? 4 : 1;
    for (auto steps = 1 + generator_() % (far ? 40 : 5); steps > 0; --steps) {
      draw_gates();
      double next[traits::states];
      host_step<Cell>(in_, next);
      // A cell that grows without bound is left where differences still have digits.
      if (std::any_of(next, next + traits::states, [](double state) { return !(std::abs(state) < 100); })) break;
      std::copy(next, next + traits::states, in_.states);
    }
    draw_gates();
    for (double& gradient : next_gradient_) gradient = normal_(generator_);
  }
  void draw_gates() {
    for (double& gate : in_.gates) gate = scale_ * normal_(generator_);
  }

  double loss() const {
    double next[traits::states], sum = 0;
    host_step<Cell>(in_, next);
    for (int s = 0; s < traits::states; ++s) sum += next_gradient_[s] * next[s];
    return sum;
  }

  static double disagreement(double a, double b) {
    if (!std::isfinite(a) || !std::isfinite(b)) return std::numeric_limits<double>::infinity();
    return std::abs(a - b) / (std::max)({1.0, std::abs(a), std::abs(b)});
  }

  /// The difference quotient that agrees best: of some over both sides, wide ones being the more precise and narrow
  /// ones good where the cell bends sharply, and one over either side, which does not reach across a kink (relu, max)
  /// on the other. None agrees with a derivative that is wrong.
  double difference(double& variable, double derivative) const {
    double const at = variable;
    auto const moved = [&](double by) {
      variable = at + by;
      double const value = loss();
      variable = at;
      return value;
    };
    double best = std::numeric_limits<double>::quiet_NaN();
    auto const consider = [&](double quotient) {
      if (!(disagreement(best, derivative) <= disagreement(quotient, derivative))) best = quotient;
    };
    for (double const both : {1e-3, 1e-4, 1e-5})
      consider((8 * (moved(both) - moved(-both)) - (moved(2 * both) - moved(-2 * both))) / (12 * both));
    for (double const side : {1e-5, -1e-5}) consider((4 * moved(side) - moved(2 * side) - 3 * moved(0)) / (2 * side));
    return best;
  }

  void compare(gradient_disagreement& worst, std::string const& name, char const* one, double a, char const* other,
               double b) const {
    double const error = disagreement(a, b);
    if (!(error > worst.error)) return;
    char values[96];
    std::snprintf(values, sizeof values, "%s %.15g, %s %.15g", one, a, other, b);
    worst.error = error;
    worst.where = "gradient of " + name + " at point " + std::to_string(result_.points) + " of seed " +
                  std::to_string(result_.seed) + ": " + values;
  }

  void check_input(std::string const& name, double& variable, double derived, double written) {
    double const by_difference = difference(variable, derived);
    compare(result_.derived, name, "derived", derived, "differences", by_difference);
    if (!result_.has_written) return;
    compare(result_.written, name, "written", written, "differences", difference(variable, written));
    compare(result_.agreement, name, "written", written, "derived", derived);
  }

  void check_point() {
    draw();
    unit_gradients<Cell, double> derived, written;
    host_derived_backward<Cell>(in_, next_gradient_, derived);
    host_backward<Cell>(in_, next_gradient_, written);
    for (int i = 0; i < traits::gate_count; ++i)
      check_input("gate " + std::to_string(i), in_.gates[i], derived.gates[i], written.gates[i]);
    for (int i = 0; i < traits::states; ++i)
      check_input("state " + std::to_string(i), in_.states[i], derived.states[i], written.states[i]);
    for (int i = 0; i < traits::unit_parameters; ++i)
      check_input("unit parameter " + std::to_string(i), in_.units[i], derived.units[i], written.units[i]);
  }

  std::mt19937_64 generator_;
  std::normal_distribution<double> normal_;
  double scale_ = 1;
  unit_inputs<Cell, double> in_{};
  double next_gradient_[traits::states] = {};
  gradient_check_result result_{{}, {}, {}, writes_backward<Cell, double>, 0, 0};
};

}  // namespace detail

/// @brief Compares a cell's derived backward, and its hand-written one where it has one, with central differences.
///
/// In double, on the host, at random points. Where a cell has a kink (relu, max, select) the one-sided derivative at
/// the kink itself is not compared; a random point does not hit it.
///
///     auto const result = rnnopt::gradient_check<my_cell>();
///     if (!result.passes()) std::cerr << result.derived.where << '\n' << result.written.where << '\n';
///
/// @tparam Cell   the cell to check
/// @param seed    gives the same points again
/// @param points  number of random points
template <class Cell>
gradient_check_result gradient_check(std::uint64_t seed = 1, int points = 200) {
  static_assert(detail::require_cell<Cell>::value);
  return detail::gradient_checker<Cell>(seed).run(points);
}

}  // namespace rnnopt

#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "cells/indrnn.hpp"
#include "cells/slstm.hpp"
#include "rnnopt/arguments.hpp"
#include "rnnopt/cells/vanilla.hpp"
#include "rnnopt/evaluate.hpp"
#include "rnnopt/extents.hpp"
#include "rnnopt/weights.hpp"
#include "tolerances.hpp"

/// Random networks, what comes out of running one, and comparing such results; for the host and the GPU lane.

namespace rnnopt_tests {

/// A new seed every time, unless the environment's RNNOPT_TEST_SEED repeats one that a failure printed.
inline std::uint64_t fresh_seed() {
  if (char const* const given = std::getenv("RNNOPT_TEST_SEED")) return std::strtoull(given, nullptr, 10);
  std::random_device device;
  return (static_cast<std::uint64_t>(device()) << 32) | device();
}

/// Whether the slope of a cell's h jumps. Rounding then decides which slope a unit near the jump gets, and no bound on
/// gradients holds. Networks of such cells are drawn so that every unit stays on its side, half of them on either: a
/// bias of 8 up or down, and weights that move a pre-activation by about 1.
template <class Cell>
inline constexpr bool has_kink = false;
template <>
inline constexpr bool has_kink<rnnopt::vanilla<rnnopt::activations::relu>> = true;
template <>
inline constexpr bool has_kink<cells::indrnn> = true;
/// Whether that is so for the other states only, as for the stabiliser of sLSTM, which is a maximum over all steps
/// while h does not depend on it. Nothing comes in through the final ones of such cells.
template <class Cell>
inline constexpr bool other_states_have_kinks = false;
template <>
inline constexpr bool other_states_have_kinks<cells::slstm> = true;

/// Everything a run reads, in host memory. The same seed and extents give the same numbers in every precision, up to
/// its rounding.
template <class Cell, class Precision>
struct random_network {
  using storage = typename Precision::storage;
  using state = typename Precision::state;
  static constexpr std::size_t other_states = Cell::states - 1;

  rnnopt::extents e;
  std::uint64_t seed;
  rnnopt::weight_layout<Cell> layout;
  std::vector<storage> x;        // [steps, batch, input]
  std::vector<storage> weights;  // in the order of weight_layout
  std::vector<storage> h;        // [lines, batch, hidden], initial
  std::array<std::vector<state>, other_states> others;
  std::vector<storage> dy;  // [steps, batch, directions * hidden]
  std::vector<storage> dh;  // [lines, batch, hidden], of the final h
  std::array<std::vector<state>, other_states> dothers;
  std::vector<std::int32_t> lengths;  // [batch]; empty: every row has all steps

  explicit random_network(rnnopt::extents const& extents, std::uint64_t network_seed = fresh_seed(),
                          bool stay_off_kinks = true)
      : e(extents), seed(network_seed), layout(extents) {
    std::mt19937_64 generator(seed);
    std::normal_distribution<double> normal;
    bool const on_a_side = stay_off_kinks && has_kink<Cell>;
    auto const draw = [&](auto& into, std::int64_t count, double scale) {
      into.resize(static_cast<std::size_t>(count));
      for (auto& value : into) value = static_cast<std::decay_t<decltype(value)>>(scale * normal(generator));
    };
    std::int64_t const plane = e.lines() * e.batch * e.hidden;
    draw(x, e.steps * e.batch * e.input, 1);
    // Scaled by the number of terms: pre-activations are about 1, so that gates are neither saturated nor linear.
    draw(weights, layout.size(), 1);
    for (std::int64_t i = 0; i < e.lines(); ++i) {
      auto const& line = layout.line(i);
      double const inputs = static_cast<double>(e.input_of(i / e.directions)), hidden = static_cast<double>(e.hidden);
      scale(line.input, line.recurrent, (on_a_side && i >= e.directions ? 0.1 : 0.7) / std::sqrt(inputs));
      scale(line.recurrent, line.bias, (on_a_side ? 0.15 : 0.7) / std::sqrt(hidden));
      scale(line.bias, line.units, on_a_side ? 0 : 0.3, on_a_side ? 8 : 0);
      scale(line.units, line.end, 0.4, 0, on_a_side ? 0.5 : 0.9);
    }
    h.resize(static_cast<std::size_t>(plane));
    for (auto& other : others) other.resize(h.size());
    for (std::size_t i = 0; i < h.size(); ++i) draw_states(i, generator);
    draw(dy, e.steps * e.batch * e.directions * e.hidden, 1);
    draw(dh, plane, 1);
    for (auto& other : dothers) draw(other, plane, stay_off_kinks && other_states_have_kinks<Cell> ? 0 : 1);
  }

  /// Gives every row a length of its own, unsorted, with zeros and full ones among them.
  void draw_lengths() {
    std::mt19937_64 generator(seed + 1);
    lengths.resize(static_cast<std::size_t>(e.batch));
    for (auto& length : lengths)
      length = static_cast<std::int32_t>(generator() % static_cast<std::uint64_t>(e.steps + 1));
    if (e.batch > 0) lengths.back() = static_cast<std::int32_t>(e.steps);
    if (e.batch > 1) lengths[static_cast<std::size_t>(e.batch) / 2 - 1] = 0;
  }

  /// The very same numbers in another precision (exactly, if that is wider).
  template <class Other>
  random_network<Cell, Other> in() const {
    random_network<Cell, Other> result(e, seed);
    convert(x, result.x);
    convert(weights, result.weights);
    convert(h, result.h);
    convert(dy, result.dy);
    convert(dh, result.dh);
    for (std::size_t s = 0; s != other_states; ++s) {
      convert(others[s], result.others[s]);
      convert(dothers[s], result.dothers[s]);
    }
    result.lengths = lengths;
    return result;
  }

  /// For messages: how to get this network again.
  std::string description() const {
    return "layers " + std::to_string(e.layers) + ", input " + std::to_string(e.input) + ", hidden " +
           std::to_string(e.hidden) + ", batch " + std::to_string(e.batch) + ", steps " + std::to_string(e.steps) +
           ", directions " + std::to_string(e.directions) + ", RNNOPT_TEST_SEED=" + std::to_string(seed);
  }

 private:
  /// value -> factor * value +- away, at most `largest` in size.
  void scale(std::int64_t from, std::int64_t to, double factor, double away = 0, double largest = 100) {
    for (std::int64_t i = from; i < to; ++i) {
      storage& value = weights[static_cast<std::size_t>(i)];
      double const drawn = static_cast<double>(value), scaled = factor * drawn + (drawn < 0 ? -away : away);
      value = static_cast<storage>(scaled < -largest ? -largest : scaled > largest ? largest : scaled);
    }
  }

  /// States that the cell can reach, since not every number makes sense (a normaliser is positive): a few steps of it.
  void draw_states(std::size_t at, std::mt19937_64& generator) {
    std::normal_distribution<double> normal;
    rnnopt::detail::unit_inputs<Cell, double> in{};
    for (auto& unit : in.units) unit = 0.4 * normal(generator);
    for (int step = 0; step < 3; ++step) {
      for (auto& gate : in.gates) gate = normal(generator);
      double next[Cell::states];
      rnnopt::detail::host_step<Cell>(in, next);
      for (int s = 0; s < Cell::states; ++s) in.states[s] = next[s];
    }
    h[at] = static_cast<storage>(in.states[0]);
    for (std::size_t s = 0; s != other_states; ++s) others[s][at] = static_cast<state>(in.states[s + 1]);
  }

  template <class From, class To>
  static void convert(std::vector<From> const& from, std::vector<To>& to) {
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = static_cast<To>(static_cast<double>(from[i]));
  }
};

/// What a run writes, in host memory; everything is NaN until it has been written.
template <class Cell, class Precision>
struct results {
  using storage = typename Precision::storage;
  using accumulate = typename Precision::accumulate;
  using state = typename Precision::state;
  static constexpr std::size_t other_states = Cell::states - 1;

  std::vector<storage> y;
  std::vector<storage> h;  // final
  std::array<std::vector<state>, other_states> others;
  std::vector<storage> dx;
  std::vector<storage> dh;  // of the initial h
  std::array<std::vector<state>, other_states> dothers;
  std::vector<accumulate> dweights;  // in the order of weight_layout

  explicit results(random_network<Cell, Precision> const& network) {
    poison(y, network.dy.size());
    poison(h, network.h.size());
    poison(dx, network.x.size());
    poison(dh, network.h.size());
    poison(dweights, network.weights.size());
    for (auto& other : others) poison(other, network.h.size());
    for (auto& other : dothers) poison(other, network.h.size());
  }

  /// function(name, vector of this, vector of other) for every vector.
  template <class Other, class Function>
  void for_each(Other const& other, Function&& function) const {
    function("y", y, other.y);
    function("final h", h, other.h);
    for (std::size_t s = 0; s != other_states; ++s)
      function("final state " + std::to_string(s + 1), others[s], other.others[s]);
    function("dx", dx, other.dx);
    function("gradient of the initial h", dh, other.dh);
    for (std::size_t s = 0; s != other_states; ++s)
      function("gradient of initial state " + std::to_string(s + 1), dothers[s], other.dothers[s]);
    function("weight gradients", dweights, other.dweights);
  }

 private:
  template <class T>
  static void poison(std::vector<T>& into, std::size_t count) {
    into.assign(count, static_cast<T>(std::numeric_limits<float>::quiet_NaN()));
  }
};

/// The name of every result that is beyond the bound, with its error; empty when all is well.
template <class Cell, class Precision, class Other>
std::vector<std::string> beyond(double bound, results<Cell, Precision> const& got,
                                results<Cell, Other> const& reference) {
  std::vector<std::string> failures;
  got.for_each(reference, [&](std::string const& name, auto const& a, auto const& b) {
    double const error = relative_error(a, b);
    if (error <= bound) return;
    char text[64];
    std::snprintf(text, sizeof text, ": relative error %.3g, bound %.3g", error, bound);
    failures.push_back(name + text);
  });
  return failures;
}

template <class T>
bool same_bits(std::vector<T> const& a, std::vector<T> const& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/// The name of every result whose bits differ.
template <class Cell, class Precision>
std::vector<std::string> different_bits(results<Cell, Precision> const& a, results<Cell, Precision> const& b) {
  std::vector<std::string> failures;
  a.for_each(b, [&](std::string const& name, auto const& one, auto const& other) {
    if (!same_bits(one, other)) failures.push_back(name + " differs");
  });
  return failures;
}

}  // namespace rnnopt_tests

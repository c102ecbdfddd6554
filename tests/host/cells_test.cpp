// Cells against formulas written down here once more, published numbers, and finite differences.

#include <array>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "all_cells.hpp"
#include "random_network.hpp"
#include "rnnopt/gradient_check.hpp"
#include "rnnopt/host_rnn.hpp"
#include "rnnopt/schedules/stepwise.hpp"

namespace {

using namespace rnnopt_tests;
using numbers = std::vector<double>;

double logistic(double x) { return 0.5 * (1 + std::tanh(0.5 * x)); }

/// Next states from pre-activations (in the cell's gate order), states and unit parameters.
using formula = std::function<numbers(numbers const& a, numbers const& s, numbers const& p)>;

numbers lstm_formula(numbers const& a, numbers const& s, numbers const&) {
  double const c = logistic(a[1]) * s[1] + logistic(a[0]) * std::tanh(a[2]);
  return {logistic(a[3]) * std::tanh(c), c};
}
numbers gru_formula(numbers const& a, numbers const& s, numbers const&) {
  double const r = logistic(a[0]), z = logistic(a[1]), n = std::tanh(a[2] + r * a[3]);
  return {(1 - z) * n + z * s[0]};
}
numbers tanh_formula(numbers const& a, numbers const&, numbers const&) { return {std::tanh(a[0])}; }
numbers relu_formula(numbers const& a, numbers const&, numbers const&) { return {a[0] > 0 ? a[0] : 0}; }
numbers mgu_formula(numbers const& a, numbers const& s, numbers const&) {
  double const f = logistic(a[0]);
  return {(1 - f) * s[0] + f * std::tanh(a[1] + f * a[2])};
}
numbers peephole_formula(numbers const& a, numbers const& s, numbers const& p) {
  double const i = logistic(a[0] + p[0] * s[1]), f = logistic(a[1] + p[1] * s[1]);
  double const c = f * s[1] + i * std::tanh(a[2]);
  return {logistic(a[3] + p[2] * c) * std::tanh(c), c};
}
numbers coupled_formula(numbers const& a, numbers const& s, numbers const&) {
  double const i = logistic(a[0]), c = (1 - i) * s[1] + i * std::tanh(a[1]);
  return {logistic(a[2]) * std::tanh(c), c};
}
numbers indrnn_formula(numbers const& a, numbers const& s, numbers const& p) {
  return {std::fmax(0, a[0] + p[0] * s[0])};
}
numbers slstm_formula(numbers const& a, numbers const& s, numbers const&) {
  double const f = std::log(logistic(a[1])) + s[3], m = f > a[0] ? f : a[0];
  double const c = std::exp(f - m) * s[1] + std::exp(a[0] - m) * std::tanh(a[2]);
  double const n = std::exp(f - m) * s[2] + std::exp(a[0] - m);
  return {logistic(a[3]) * c / n, c, n, m};
}

template <class Cell>
struct expectation;
#define EXPECTATION(cell, function)           \
  template <>                                 \
  struct expectation<cell> {                  \
    static formula get() { return function; } \
  }
EXPECTATION(rnnopt::lstm, lstm_formula);
EXPECTATION(rnnopt::gru, gru_formula);
EXPECTATION(vanilla_tanh, tanh_formula);
EXPECTATION(vanilla_relu, relu_formula);
EXPECTATION(cells::minimal_gated_unit, mgu_formula);
EXPECTATION(cells::peephole_lstm, peephole_formula);
EXPECTATION(cells::coupled_lstm, coupled_formula);
EXPECTATION(cells::indrnn, indrnn_formula);
EXPECTATION(cells::slstm, slstm_formula);
#undef EXPECTATION

template <class Cell>
struct cell : testing::Test {};
using every_cell = testing::Types<rnnopt::lstm, rnnopt::gru, vanilla_tanh, vanilla_relu, cells::minimal_gated_unit,
                                  cells::peephole_lstm, cells::coupled_lstm, cells::indrnn, cells::slstm>;
TYPED_TEST_SUITE(cell, every_cell);

/// The step at random points, with states that the cell reaches.
template <class Cell, class T>
void compare_step(double bound) {
  std::uint64_t const seed = fresh_seed();
  SCOPED_TRACE("RNNOPT_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal;
  formula const expected = expectation<Cell>::get();
  rnnopt::detail::unit_inputs<Cell, T> in{};
  for (int point = 0; point < 2000; ++point) {
    if (point % 10 == 0)
      for (T& state : in.states) state = 0;
    for (T& gate : in.gates) gate = T(1.5 * normal(generator));
    for (T& unit : in.units) unit = T(0.5 * normal(generator));
    T next[Cell::states];
    rnnopt::detail::host_step<Cell>(in, next);
    numbers const want =
        expected({std::begin(in.gates), std::end(in.gates)}, {std::begin(in.states), std::end(in.states)},
                 {std::begin(in.units), std::end(in.units)});
    ASSERT_EQ(want.size(), std::size_t(Cell::states));
    for (int s = 0; s < Cell::states; ++s)
      ASSERT_LE(std::abs(double(next[s]) - want[std::size_t(s)]), bound * std::fmax(1, std::abs(want[std::size_t(s)])))
          << "state " << s << " at point " << point;
    for (int s = 0; s < Cell::states; ++s) in.states[s] = next[s];
  }
}

TYPED_TEST(cell, step_is_its_formula_in_double) { compare_step<TypeParam, double>(1e-14); }
TYPED_TEST(cell, step_is_its_formula_in_float) { compare_step<TypeParam, float>(2e-6); }

TYPED_TEST(cell, backwards_agree_with_each_other_and_with_differences) {
  auto const result = rnnopt::gradient_check<TypeParam>(fresh_seed(), 2000);
  EXPECT_EQ(result.points, 2000);
  EXPECT_TRUE(result.passes(1e-9, 1e-12)) << result.derived.where << '\n'
                                          << result.written.where << '\n'
                                          << result.agreement.where;
}

TEST(cells, the_built_in_ones_bring_a_backward) {
  EXPECT_TRUE(rnnopt::gradient_check<rnnopt::lstm>(1, 1).has_written);
  EXPECT_TRUE(rnnopt::gradient_check<rnnopt::gru>(1, 1).has_written);
  EXPECT_TRUE(rnnopt::gradient_check<vanilla_tanh>(1, 1).has_written);
  EXPECT_TRUE(rnnopt::gradient_check<vanilla_relu>(1, 1).has_written);
  EXPECT_FALSE(rnnopt::gradient_check<cells::slstm>(1, 1).has_written);
}

// gradient_check itself has to notice.

struct wrong_backward : cells::minimal_gated_unit {
  template <class Gates, class States, class Next>
  RNNOPT_HD static auto backward(Gates const& gates, States const& states, Next const& next) {
    auto const& [f, n_x, n_h] = gates;
    auto const& [h] = states;
    auto const& [dh] = next;
    auto const forget = sigmoid(f), n = tanh(n_x + forget * n_h);
    auto const dn = dh * forget * (1 - n * n);
    // The gate also acts through n: the term dn * n_h is missing.
    return rnnopt::gradients(rnnopt::pack(dh * (n - h) * forget * (1 - forget), dn, dn * forget),
                             rnnopt::pack(dh * (1 - forget)));
  }
};
struct not_a_number {
  using gates = rnnopt::gates<rnnopt::feed::both>;
  static constexpr int states = 1;
  template <class Gates, class States>
  RNNOPT_HD static auto step(Gates const& gates, States const&) {
    auto const& [a] = gates;
    return rnnopt::pack(sqrt(a));
  }
};
struct hides_a_part {
  using gates = rnnopt::gates<rnnopt::feed::both>;
  static constexpr int states = 1;
  template <class Gates, class States>
  RNNOPT_HD static auto step(Gates const& gates, States const&) {
    auto const& [a] = gates;
    return rnnopt::pack(a + 0.25 * a.value);
  }
};

TEST(gradient_check, finds_a_wrong_backward) {
  auto const result = rnnopt::gradient_check<wrong_backward>();
  EXPECT_FALSE(result.passes());
  EXPECT_LE(result.derived.error, 1e-9);
  EXPECT_GT(result.written.error, 1e-2);
  EXPECT_GT(result.agreement.error, 1e-2);
  EXPECT_EQ(result.written.where.find("gradient of gate 0 at point "), 0U) << result.written.where;
}
TEST(gradient_check, finds_what_is_hidden_from_the_derivation) {
  auto const result = rnnopt::gradient_check<hides_a_part>();
  EXPECT_FALSE(result.passes());
  EXPECT_GT(result.derived.error, 1e-2);
}
TEST(gradient_check, does_not_pass_nan) { EXPECT_FALSE(rnnopt::gradient_check<not_a_number>().passes()); }
TEST(gradient_check, repeats_a_seed) {
  auto const one = rnnopt::gradient_check<rnnopt::lstm>(7, 50), two = rnnopt::gradient_check<rnnopt::lstm>(7, 50);
  EXPECT_EQ(one.derived.error, two.derived.error);
  EXPECT_NE(one.derived.error, rnnopt::gradient_check<rnnopt::lstm>(8, 50).derived.error);
}

// sLSTM from zero states: the first step is o tanh(z), whatever the gates are, as long as n is above its bound.
template <class T>
void begin_slstm(std::initializer_list<T> input_gates, T bound) {
  for (T const i : input_gates) {
    rnnopt::detail::unit_inputs<cells::slstm, T> in{};
    in.gates[0] = i, in.gates[1] = T(0.5), in.gates[2] = T(0.7), in.gates[3] = T(0.2);
    T next[4], dnext[4] = {1, 1, 1, 1};
    rnnopt::detail::host_step<cells::slstm>(in, next);
    rnnopt::detail::unit_gradients<cells::slstm, T> gradients;
    rnnopt::detail::host_derived_backward<cells::slstm>(in, dnext, gradients);
    for (T const value : next) EXPECT_TRUE(std::isfinite(value)) << i;
    for (T const value : gradients.gates) EXPECT_TRUE(std::isfinite(value)) << i;
    for (T const value : gradients.states) EXPECT_TRUE(std::isfinite(value)) << i;
    if (i > -10) {
      EXPECT_NEAR(next[0], logistic(0.2) * std::tanh(0.7), bound) << i;
    }
  }
}
TEST(slstm, begins_without_a_division_by_zero) {
  begin_slstm<double>({-5, 0, 3, 80, 700, -80, -700, -1e6}, 1e-12);
  begin_slstm<float>({-5, 0, 3, 80, 700, -80, -700, -1e6F}, 1e-6F);
}

// Published numbers, through the network. All weights by name, one unit, one row.
template <class Cell>
struct single {
  rnnopt::extents e;
  double w = 0, r = 0;
  numbers bias, units;
  numbers initial;  // states
  numbers x;

  /// [step][state]
  std::vector<numbers> run() const {
    std::vector<numbers> result;
    rnnopt::host_rnn<Cell, rnnopt::fp64, rnnopt::schedules::stepwise<>> const net(e);
    using gates = typename Cell::gates;
    numbers const input(gates::input_count, w), recurrent(gates::recurrent_count, r);
    rnnopt::line_weights<double const> const weights{input.data(), recurrent.data(), bias.data(), units.data()};
    std::vector<std::byte> workspace(net.workspace_bytes(rnnopt::pass::inference) + 16);
    numbers states = initial;
    for (double const now : x) {
      typename decltype(net)::forward_arguments a;
      numbers next(states.size());
      double y = 0;
      a.x = &now, a.weights = &weights, a.y = &y;
      a.initial.h = &states[0], a.final.h = &next[0];
      for (std::size_t s = 1; s < states.size(); ++s)
        a.initial.others[s - 1] = &states[s], a.final.others[s - 1] = &next[s];
      auto const past = reinterpret_cast<std::uintptr_t>(workspace.data()) % 16;
      a.workspace = {workspace.data() + (16 - past) % 16, net.workspace_bytes(rnnopt::pass::inference)};
      net.forward(a);
      EXPECT_EQ(y, next[0]);
      states = next;
      result.push_back(states);
    }
    return result;
  }
};

constexpr double golden = 1e-9;  // the numbers are given to ten digits

TEST(golden, gru_with_the_reset_after_the_product) {
  single<rnnopt::gru> const gru{{}, 1, 1, {0, 0, 0, 1}, {}, {0.5}, {1}};
  EXPECT_NEAR(gru.run()[0][0], 0.5870123346, golden);
}
TEST(golden, lstm_two_steps) {
  auto const steps = single<rnnopt::lstm>{{}, 0.5, 0.5, {0, 0, 0, 0}, {}, {0, 0}, {1, 1}}.run();
  EXPECT_NEAR(steps[0][1], 0.2876491366, golden);
  EXPECT_NEAR(steps[0][0], 0.1742697187, golden);
  EXPECT_NEAR(steps[1][1], 0.5241157234, golden);
  EXPECT_NEAR(steps[1][0], 0.3090589306, golden);
}
TEST(golden, lstm_gate_order_by_bias_alone) {
  // The same four numbers read in the orders of other libraries, each brought into this one's i, f, g, o.
  struct {
    char const* order;
    numbers bias;
    double c, h;
  } const table[] = {{"i f g o", {1, -1, 0.5, 2}, 0.4050700675, 0.3384715832},
                     {"i o f g", {1, 0.5, 2, -1}, 0.8603754653, 0.1873045410},
                     {"i g f o", {1, 0.5, -1, 2}, -0.4011551083, -0.3355280941},
                     {"i f o g", {1, -1, 2, 0.5}, 0.7719959878, 0.4034087864}};
  for (auto const& row : table) {
    auto const states = single<rnnopt::lstm>{{}, 0, 0, row.bias, {}, {0, 0.25}, {1}}.run()[0];
    EXPECT_NEAR(states[1], row.c, golden) << row.order;
    EXPECT_NEAR(states[0], row.h, golden) << row.order;
  }
}
TEST(golden, peephole_output_gate_sees_the_new_memory) {
  auto const states = single<cells::peephole_lstm>{{}, 0, 0, {0, 0, 0, 0}, {1, 1, 1}, {0, 1}, {1}}.run()[0];
  EXPECT_NEAR(states[1], 0.7310585786, golden);
  EXPECT_NEAR(states[0], 0.4210293774, golden);
}
TEST(golden, peephole_without_peepholes_is_the_lstm_bit_for_bit) {
  std::mt19937_64 generator(fresh_seed());
  std::normal_distribution<double> normal;
  numbers bias(4), x(5);
  for (double& value : bias) value = normal(generator);
  for (double& value : x) value = normal(generator);
  auto const with = single<cells::peephole_lstm>{{}, 0.7, -0.4, bias, {0, 0, 0}, {0.3, 0.6}, x}.run();
  auto const plain = single<rnnopt::lstm>{{}, 0.7, -0.4, bias, {}, {0.3, 0.6}, x}.run();
  EXPECT_EQ(with, plain);
}

}  // namespace

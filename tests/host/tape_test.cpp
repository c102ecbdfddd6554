// Tapes of the elementwise operations of a cell: what running one gives, and how long it is.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "all_cells.hpp"
#include "random_network.hpp"
#include "rnnopt/tape.hpp"

namespace {

using namespace rnnopt_tests;
using rnnopt::detail::arriving_gradients;
using rnnopt::detail::place;
using rnnopt::detail::quantity;
using rnnopt::detail::tape;

/// Everything a cell may call, conditions of all kinds, and constants that fold.
struct every_function {
  using gates = rnnopt::gates<rnnopt::feed::both, rnnopt::feed::input, rnnopt::feed::recurrent>;
  static constexpr int states = 2;
  static constexpr int unit_parameters = 1;

  template <class Gates, class States, class Units>
  RNNOPT_HD static auto step(Gates const& pre, States const& previous, Units const& units) {
    auto const& [a, b, c] = pre;
    auto const& [h, m] = previous;
    auto const& [u] = units;
    constexpr bool always = true;
    auto const positive = 1 + a * a;
    auto const one = log(positive) + sqrt(positive) - exp(-b) / positive + abs(c) * softplus(h);
    auto const two = max(a, b) * min(b, 0.25) + max(m, min(c, h)) + relu(u * m);
    auto const three = select(a < b && !(b >= c), tanh(a), select(h != h || (always && u == u), sigmoid(m), 0));
    auto const four = select(a > 0 || m <= h, 2, b) + max(select(false, a, 0.5), select(true, 0.25, b));
    return rnnopt::pack(tanh(one * 0.1) + three, two + four);
  }
};

/// States that trade places, and one value in two of them: running it in place is easily got wrong.
struct exchange {
  using gates = rnnopt::gates<rnnopt::feed::recurrent>;
  static constexpr int states = 5;

  template <class Gates, class States>
  RNNOPT_HD static auto step(Gates const& pre, States const& previous) {
    auto const& [a] = pre;
    auto const& [h, c, d, e, f] = previous;
    auto const both = tanh(a + h) - c;
    return rnnopt::pack(both, d, c, both, f * e);
  }
};

/// What a tape reads and writes for one unit; inputs and outputs share memory as they do in a run.
template <class Cell>
struct unit_memory {
  rnnopt::detail::unit_inputs<Cell, double> in{};
  double products[2][Cell::gates::count] = {};
  double bias[Cell::gates::count] = {};
  double saved[Cell::gates::count] = {};
  double arriving[2] = {};  ///< through R, dy
  rnnopt::detail::unit_gradients<Cell, double> gradients{};

  double& at(place const& p) {
    std::size_t const i = static_cast<std::size_t>(p.index);
    switch (p.what) {
      case quantity::input_product:
        return products[0][i];
      case quantity::recurrent_product:
        return products[1][i];
      case quantity::bias:
        return bias[i];
      case quantity::unit:
        return in.units[i];
      case quantity::preactivation:
        return saved[i];
      case quantity::state:
      case quantity::next_state:
        return in.states[i];
      case quantity::recurrent_gradient:
        return arriving[0];
      case quantity::output_gradient:
        return arriving[1];
      case quantity::gate_gradient:
        return gradients.gates[i];
      case quantity::state_gradient:
        return gradients.states[i];
      case quantity::unit_gradient:
        return gradients.units[i];
      default:
        throw std::logic_error("no place of a tape");
    }
  }
  void run(tape const& program) {
    rnnopt::detail::run_tape<double>(
        program, [&](place const& p) { return at(p); }, [&](place const& p, double value) { at(p) = value; });
  }

  /// Draws every input.
  template <class Draw>
  void fill(Draw&& draw) {
    for (double& x : in.states) x = draw();
    for (double& x : in.units) x = draw();
    for (auto& of_gates : products)
      for (double& x : of_gates) x = draw();
    for (double& x : bias) x = draw();
    for (double& x : saved) x = draw();
    for (double& x : arriving) x = draw();
    for (double& x : gradients.states) x = draw();
    for (double& x : gradients.units) x = draw();
  }
};

testing::AssertionResult same(double got, double want) {
  if (std::isnan(want) ? std::isnan(got) : std::abs(got - want) <= 1e-13 * std::abs(want))
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << got << " where " << want << " was expected";
}

template <class Cell>
void compare_forward(unit_memory<Cell> memory, bool bias) {
  using gates = typename Cell::gates;
  rnnopt::detail::unit_inputs<Cell, double> in = memory.in;
  for (int g = 0; g < gates::count; ++g) {
    double sum = gates::input_block(g) < 0 ? 0 : memory.products[0][gates::input_block(g)];
    if (bias) sum += memory.bias[g];
    if (int const block = gates::recurrent_block(g); block >= 0) sum += memory.products[1][block];
    in.gates[g] = sum;
  }
  double next[Cell::states];
  rnnopt::detail::host_step<Cell>(in, next);
  memory.run(rnnopt::detail::forward_tape<Cell>(bias));
  for (int s = 0; s < Cell::states; ++s) EXPECT_TRUE(same(memory.in.states[s], next[s])) << "state " << s;
  for (int g = 0; g < gates::count; ++g) EXPECT_TRUE(same(memory.saved[g], in.gates[g])) << "gate " << g;
}

template <class Cell>
void compare_backward(unit_memory<Cell> memory, arriving_gradients const& arriving) {
  rnnopt::detail::unit_inputs<Cell, double> in = memory.in;
  for (int g = 0; g < Cell::gates::count; ++g) in.gates[g] = memory.saved[g];
  double next[Cell::states];
  for (int s = 0; s < Cell::states; ++s) next[s] = memory.gradients.states[s];
  if (arriving.recurrent) next[0] += memory.arriving[0];
  if (arriving.output) next[0] += memory.arriving[1];
  rnnopt::detail::unit_gradients<Cell, double> want;
  rnnopt::detail::host_backward<Cell>(in, next, want);
  int const units = rnnopt::detail::unit_parameters_of<Cell>::value;
  for (int u = 0; arriving.units && u < units; ++u) want.units[u] += memory.gradients.units[u];
  memory.run(rnnopt::detail::backward_tape<Cell>(arriving));
  for (int g = 0; g < Cell::gates::count; ++g) EXPECT_TRUE(same(memory.gradients.gates[g], want.gates[g])) << g;
  for (int s = 0; s < Cell::states; ++s) EXPECT_TRUE(same(memory.gradients.states[s], want.states[s])) << s;
  for (int u = 0; u < units; ++u) EXPECT_TRUE(same(memory.gradients.units[u], want.units[u])) << u;
}

template <class Cell>
struct tape_of : testing::Test {};
using every_cell =
    testing::Types<rnnopt::lstm, rnnopt::gru, vanilla_tanh, vanilla_relu, cells::minimal_gated_unit,
                   cells::peephole_lstm, cells::coupled_lstm, cells::indrnn, cells::slstm, every_function, exchange>;
TYPED_TEST_SUITE(tape_of, every_cell);

TYPED_TEST(tape_of, a_cell_gives_what_the_cell_gives) {
  std::uint64_t const seed = fresh_seed();
  SCOPED_TRACE("RNNOPT_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal;
  for (int point = 0; point < 500 && !testing::Test::HasFailure(); ++point) {
    unit_memory<TypeParam> memory;
    memory.fill([&] { return normal(generator); });
    for (bool const bias : {false, true}) compare_forward(memory, bias);
    for (unsigned i = 0; i < arriving_gradients::combinations; ++i)
      compare_backward(memory, arriving_gradients::combination(i));
  }
}

/// One number after the other is NaN; the tape has NaN where the cell has it, and h is NaN for some of them.
TYPED_TEST(tape_of, a_cell_lets_nan_through) {
  int numbers = 0;
  unit_memory<TypeParam>().fill([&] { return ++numbers, 0.5; });
  int seen = 0;
  for (int poisoned = 0; poisoned < numbers; ++poisoned) {
    SCOPED_TRACE("number " + std::to_string(poisoned));
    unit_memory<TypeParam> memory;
    int drawn = 0;
    memory.fill([&] {
      double const value = 0.1 * drawn - 0.4;
      return drawn++ == poisoned ? std::numeric_limits<double>::quiet_NaN() : value;
    });
    compare_forward(memory, true);
    compare_backward(memory, {true, true, true});
    memory.run(rnnopt::detail::forward_tape<TypeParam>(true));
    if (std::isnan(memory.in.states[0])) ++seen;
  }
  EXPECT_GT(seen, 0);
}

TYPED_TEST(tape_of, a_cell_needs_few_slots) {
  std::size_t const forward = rnnopt::detail::forward_tape<TypeParam>(true).operations.size();
  std::size_t const backward = rnnopt::detail::backward_tape<TypeParam>({true, true, true}).operations.size();
  int const slots = rnnopt::detail::elementwise_slots<TypeParam>();
  std::cout << forward << " operations forward, " << backward << " backward, " << slots << " slots\n";
  EXPECT_GE(slots, 1);
  EXPECT_LE(2 * slots, static_cast<int>(backward));
}

/// Forward of an LSTM: 2 sums for each of 4 gates, 4 activations, 2 products and their sum for c, tanh and a product
/// for h, 17 in all. With a second bias per gate, as cuDNN's LSTM has one beside W and one beside R, it would be 21;
/// the paper counts about 22. Without biases it is 13.
TEST(tape, length_for_an_lstm) {
  EXPECT_EQ(rnnopt::detail::forward_tape<rnnopt::lstm>(true).operations.size(), 17U);
  EXPECT_EQ(rnnopt::detail::forward_tape<rnnopt::lstm>(false).operations.size(), 13U);
  EXPECT_EQ(rnnopt::detail::backward_tape<rnnopt::lstm>({true, true, true}).operations.size(), 33U);
  EXPECT_EQ(rnnopt::detail::forward_tape<rnnopt::lstm>(true).slots, 4);  // one for each gate
}

/// Forward of a GRU: 6 sums, since n_x and n_h have one product each, 3 activations, r n_h and its sum with n_x, and
/// 4 for the blend.
TEST(tape, length_for_a_gru) { EXPECT_EQ(rnnopt::detail::forward_tape<rnnopt::gru>(true).operations.size(), 15U); }

// What the builder leaves out.

TEST(tape, a_value_is_computed_once_and_only_if_it_is_needed) {
  rnnopt::detail::trace recorded;
  auto const x = recorded.input(quantity::state, 0), y = recorded.input(quantity::state, 1);
  auto const sum = x + y, same_sum = y + x, unused = exp_of(x);
  EXPECT_EQ(sum.node, same_sum.node);
  EXPECT_NE(unused.node, sum.node);
  EXPECT_NE((x - y).node, (y - x).node);
  auto const program = rnnopt::detail::tape_builder::build(recorded, {{{quantity::next_state, 0, 0}, sum * same_sum}});
  ASSERT_EQ(program.operations.size(), 2U);
  EXPECT_EQ(program.operations[0].kind, rnnopt::detail::arithmetic::add);
  EXPECT_EQ(program.operations[1].kind, rnnopt::detail::arithmetic::multiply);
  EXPECT_EQ(program.slots, 1);
}

TEST(tape, constants_fold_but_not_what_may_be_nan) {
  rnnopt::detail::trace recorded;
  using number = rnnopt::detail::traced;
  auto const x = recorded.input(quantity::state, 0);
  EXPECT_TRUE((tanh_of(number(0)) + number(2) * 3).is(6));
  EXPECT_EQ((1 * x).node, x.node);
  EXPECT_EQ((x + 0).node, x.node);
  EXPECT_EQ((x * -1).node, (-x).node);
  EXPECT_FALSE((0 * x).is_constant());
  EXPECT_EQ(pick(number(1) < number(2), x, number(0)).node, x.node);
  EXPECT_EQ(pick(x < number(2), x, x).node, x.node);
}

}  // namespace

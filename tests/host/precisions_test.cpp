// What each precision rounds and where: against double, against another order of sums, and in exact small cases.

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "all_cells.hpp"
#include "host_reference.hpp"
#include "rnnopt/half.hpp"

namespace {

using namespace rnnopt_tests;
using rnnopt::bf16;
using rnnopt::extents;
using rnnopt::fp16;
using rnnopt::fp32;
using rnnopt::fp64;
using rnnopt::tf32;

template <class Cell>
struct precision : testing::Test {};
using some_cells = testing::Types<rnnopt::lstm, rnnopt::gru, vanilla_relu, cells::peephole_lstm, cells::slstm>;
TYPED_TEST_SUITE(precision, some_cells);

TYPED_TEST(precision, fp32_is_within_its_bound_of_double) {
  for (extents const& e : {extents{1, 96, 160, 4, 20, 1}, extents{2, 5, 33, 3, 9, 2}, extents{1, 300, 7, 2, 50, 1}}) {
    random_network<TypeParam, fp32> const numbers(e);
    SCOPED_TRACE(numbers.description());
    host_run<TypeParam, fp32> run(numbers);
    host_run<TypeParam, fp64> reference(numbers.template in<fp64>());
    run.run();
    reference.run();
    for (std::string const& failure : beyond(tolerance<fp32>(e.steps), run.out, reference.out))
      ADD_FAILURE() << failure;
  }
}

/// Largest relative error over y, dx and the weight gradients against double on the same numbers.
template <class Cell, class Precision>
double error_of(extents const& e) {
  random_network<Cell, Precision> const numbers(e);
  host_run<Cell, Precision> run(numbers);
  host_run<Cell, fp64> reference(numbers.template in<fp64>());
  run.run();
  reference.run();
  return std::max({relative_error(run.out.y, reference.out.y), relative_error(run.out.dx, reference.out.dx),
                   relative_error(run.out.dweights, reference.out.dweights)});
}

// Each kind of rounding shows, by about one rounding: the unit of the type or of the product's operands.
TYPED_TEST(precision, errors_are_those_of_the_type) {
  extents const e{1, 24, 40, 4, 10, 1};
  auto const about = [](double error, double unit) {
    EXPECT_GT(error, unit / 10);
    EXPECT_LT(error, unit * 4);
  };
  about(error_of<TypeParam, fp16>(e), std::ldexp(1, -11));
  about(error_of<TypeParam, bf16>(e), std::ldexp(1, -8));
  about(error_of<TypeParam, tf32>(e), std::ldexp(1, -11));
  about(error_of<TypeParam, fp32>(e), std::ldexp(1, -22));  // sums of 40 terms
}

/// The same network with its inputs in reverse order: the same numbers are rounded, sums are ordered differently.
template <class Cell, class Precision>
void reversed_inputs(extents const& e) {
  random_network<Cell, Precision> const numbers(e);
  SCOPED_TRACE(numbers.description());
  random_network<Cell, Precision> reversed = numbers;
  auto const reverse_rows = [&](auto& values, std::int64_t rows) {
    for (std::int64_t row = 0; row < rows; ++row)
      std::reverse(values.begin() + row * e.input, values.begin() + (row + 1) * e.input);
  };
  std::int64_t const gate_rows = Cell::gates::input_count * e.hidden;
  reverse_rows(reversed.x, e.steps * e.batch);
  reverse_rows(reversed.weights, gate_rows);
  host_run<Cell, Precision> run(numbers), other(reversed);
  run.run();
  other.run();
  EXPECT_FALSE(same_bits(run.out.dx, other.out.dx));
  reverse_rows(other.out.dx, e.steps * e.batch);
  reverse_rows(other.out.dweights, gate_rows);
  double const bound = tolerance<Precision>(e.steps);
  for (std::string const& failure : beyond(bound, other.out, run.out)) ADD_FAILURE() << failure;
}
TYPED_TEST(precision, the_order_of_sums_stays_within_the_bounds) {
  for (extents const& e : {extents{1, 64, 33, 3, 5, 1}, extents{2, 96, 48, 4, 20, 1}}) {
    reversed_inputs<TypeParam, fp64>(e);
    reversed_inputs<TypeParam, fp32>(e);
    reversed_inputs<TypeParam, tf32>(e);
    reversed_inputs<TypeParam, fp16>(e);
    reversed_inputs<TypeParam, bf16>(e);
  }
}

// The bounds tell the precisions apart: each run is beyond the bound of the next finer one.
template <class Coarse, class Fine>
void is_told_from(extents const& e) {
  random_network<rnnopt::lstm, Coarse> const numbers(e);
  SCOPED_TRACE(numbers.description());
  host_run<rnnopt::lstm, Coarse> coarse(numbers);
  host_run<rnnopt::lstm, fp64> reference(numbers.template in<fp64>());
  coarse.run();
  reference.run();
  EXPECT_GT(relative_error(coarse.out.y, reference.out.y), tolerance<Fine>(e.steps));
  EXPECT_GT(relative_error(coarse.out.dx, reference.out.dx), tolerance<Fine>(e.steps));
}
TEST(tolerance, tells_precisions_apart) {
  extents const e{1, 24, 40, 4, 5, 1};
  is_told_from<bf16, fp16>(e);
  is_told_from<fp16, fp32>(e);
  is_told_from<tf32, fp32>(e);
  is_told_from<fp32, fp64>(e);
}
TEST(tolerance, nothing_that_is_not_finite_passes) {
  double const nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  using values = std::vector<double>;
  EXPECT_EQ(relative_error(values{1, nan}, values{1, 2}), infinity);
  EXPECT_EQ(relative_error(values{1, 2}, values{1, nan}), infinity);
  EXPECT_EQ(relative_error(values{nan}, values{nan}), infinity);
  EXPECT_EQ(relative_error(values{infinity}, values{infinity}), infinity);
  EXPECT_EQ(relative_error(values{1}, values{0}), infinity);
  EXPECT_EQ(relative_error(values{1}, values{1, 1}), infinity);
  EXPECT_EQ(relative_error(values{0, 0}, values{0, 0}), 0);
  EXPECT_DOUBLE_EQ(relative_error(values{3, 4.5}, values{3, 4}), 0.1);
}

/// y of relu(w x) with one unit, both given exactly.
template <class Precision>
double one_product(double x, double w) {
  random_network<vanilla_relu, Precision> numbers(extents{1, 1, 1, 1, 1, 1});
  using storage = typename Precision::storage;
  numbers.x = {storage(x)};
  numbers.weights = {storage(w), storage(0.0F), storage(0.0F)};
  numbers.h = {storage(0.0F)};
  host_run<vanilla_relu, Precision> run(numbers);
  run.infer();
  return double(run.out.y[0]);
}
TEST(rounding, products_round_their_operands_only_where_tf32_may) {
  double const between = 1 + std::ldexp(1, -11), above = 1 + 3 * std::ldexp(1, -12);
  EXPECT_EQ(one_product<fp32>(between, 1), between);
  EXPECT_EQ(one_product<fp32>(1, above), above);
  EXPECT_EQ(one_product<tf32>(between, 1), 1);  // a tie goes to the even neighbour
  EXPECT_EQ(one_product<tf32>(1, above), 1 + std::ldexp(1, -10));
  EXPECT_EQ(one_product<tf32>(1.5, 1 + std::ldexp(1, -10)),
            1.5 * (1 + std::ldexp(1, -10)));  // the result does not round
  EXPECT_EQ(one_product<fp64>(1 + std::ldexp(1, -50), 1), 1 + std::ldexp(1, -50));
}
TEST(rounding, sixteen_bit_outputs_round_once_from_the_float_sum) {
  // 1 + 2^-10 squared is 1 + 2^-9 + 2^-20: above the even neighbour by less than half a unit.
  double const one_up = 1 + std::ldexp(1, -10);
  EXPECT_EQ(one_product<fp16>(one_up, one_up), 1 + std::ldexp(1, -9));
  EXPECT_EQ(one_product<bf16>(1 + std::ldexp(1, -7), 1 + std::ldexp(1, -7)), 1 + std::ldexp(1, -6));
  // Past the largest half the product is still finite in float, and infinite in storage.
  EXPECT_EQ(one_product<fp16>(60000, 2), std::numeric_limits<double>::infinity());
  EXPECT_EQ(one_product<bf16>(60000, 2), double(rnnopt::bfloat16(120000.0F)));
}
TEST(rounding, other_states_keep_the_float) {
  random_network<rnnopt::lstm, fp16> const numbers(extents{1, 4, 8, 2, 3, 1});
  host_run<rnnopt::lstm, fp16> run(numbers);
  run.infer();
  bool any = false;
  for (float const c : run.out.others[0]) any = any || float(rnnopt::half(c)) != c;
  EXPECT_TRUE(any) << "every c is a half";
}
TEST(rounding, h_is_the_function_of_the_float_sum_not_of_the_saved_one) {
  using storage = rnnopt::bfloat16;
  int told_apart = 0;
  for (int i = 1; i < 200; ++i) {
    random_network<vanilla_tanh, bf16> numbers(extents{1, 2, 1, 1, 1, 1});
    numbers.x = {storage(1.0F), storage(1.0F)};
    numbers.weights = {storage(0.5F), storage(0.0001F * static_cast<float>(i)), storage(0.0F), storage(0.0F)};
    numbers.h = {storage(0.0F)};
    host_run<vanilla_tanh, bf16> run(numbers);
    run.train();
    float const sum = 0.5F + float(numbers.weights[1]);
    storage const expected(std::tanh(sum)), of_saved(std::tanh(float(storage(sum))));
    EXPECT_EQ(run.out.y[0].bits, expected.bits) << i;
    told_apart += expected.bits != of_saved.bits ? 1 : 0;
  }
  EXPECT_GT(told_apart, 10);
}

}  // namespace

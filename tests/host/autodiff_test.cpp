// Packs, and automatic differentiation: which derivatives exist, their values, and that NaN keeps to its branch.

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "random_network.hpp"
#include "rnnopt/autodiff.hpp"
#include "rnnopt/math.hpp"
#include "rnnopt/pack.hpp"

namespace {

using rnnopt::dual;
using rnnopt::pack;

template <int Input, class T = double>
dual<T, 1U << Input> variable(T value) {
  dual<T, 1U << Input> result(value);
  result.values[0] = T(1);
  return result;
}
double constexpr nan_value = std::numeric_limits<double>::quiet_NaN();

TEST(pack, holds_elements_of_different_types) {
  auto p = pack(1, 2.5, 'c');
  static_assert(std::is_same_v<decltype(p), pack<int, double, char>>);
  static_assert(std::tuple_size_v<decltype(p)> == 3);
  static_assert(std::is_same_v<std::tuple_element_t<1, decltype(p)>, double>);
  static_assert(std::is_empty_v<pack<>> && std::tuple_size_v<pack<>> == 0);
  static_assert(std::is_trivially_copyable_v<decltype(p)>);
  rnnopt::get<0>(p) = 7;
  auto const& [i, d, c] = p;
  EXPECT_EQ(i, 7);
  EXPECT_EQ(d, 2.5);
  EXPECT_EQ(c, 'c');
  // Two elements of one type are two elements; a pack in a pack is one element.
  auto const nested = pack(pack(1, 1), 1);
  static_assert(std::is_same_v<decltype(nested), pack<pack<int, int>, int> const>);
  constexpr auto at_compile_time = pack(4, 2);
  static_assert(rnnopt::get<0>(at_compile_time) == 4 && rnnopt::get<1>(at_compile_time) == 2);
  std::vector<std::size_t> order;
  rnnopt::detail::for_each_index<3>([&](auto index) { order.push_back(index.value); });
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2}));
}

TEST(dual, the_type_says_what_it_depends_on) {
  auto const a = variable<0>(2.0);
  auto const b = variable<3>(5.0);
  auto const sum = a + b;
  static_assert(std::decay_t<decltype(sum)>::mask == 0b1001U);
  static_assert(sizeof sum == 3 * sizeof(double));
  static_assert(decltype(a * 2)::mask == 1U && decltype(1 / b)::mask == 8U && decltype(2 - (a - 1))::mask == 1U);
  static_assert(decltype(select(true, a, b))::mask == 9U && decltype(max(a, 1.0))::mask == 1U);
  static_assert(decltype(-a)::mask == 1U && decltype(tanh(sum))::mask == 9U);
  static_assert(std::decay_t<decltype(sum)>::depends_on<3> && !std::decay_t<decltype(sum)>::depends_on<1>);
  EXPECT_EQ(sum.partial<1>(), 0);  // what cannot depend has derivative zero
  static_assert(sizeof(dual<float>) == sizeof(float));
  // The highest of the 32 inputs.
  auto const last = variable<31>(3.0) * a;
  EXPECT_EQ(last.partial<31>(), 2);
  EXPECT_EQ(last.partial<0>(), 3);
}

TEST(dual, constants_stay_in_the_type_of_the_number) {
  auto const x = variable<0>(1.0F);
  static_assert(std::is_same_v<decltype(0.1 * x), dual<float, 1U>>);
  static_assert(std::is_same_v<decltype(1 - x), dual<float, 1U>>);
  EXPECT_EQ((0.1 * x).value, 0.1F);
  EXPECT_EQ((x / 3).value, 1.0F / 3);
  EXPECT_EQ((1 - x * x).partial<0>(), -2);
  EXPECT_TRUE(x < 2 && 0.5 < x && x <= 1 && x >= 1.0F && !(x > 1) && x + 1 > x);
}

/// A function of one and of two variables on duals and in plain double.
struct unary {
  char const* name;
  double (*plain)(double);
  dual<double, 1U> (*differentiated)(dual<double, 1U> const&);
  double from, to;
};

TEST(dual, constants_are_compared_in_the_type_of_the_number) {
  rnnopt::dual<float> const a(0.1f);
  EXPECT_TRUE(a == 0.1 && 0.1 == a && a <= 0.1 && a >= 0.1);
  EXPECT_FALSE(a != 0.1 || a < 0.1 || 0.1 < a || a > 0.1);
}

TEST(dual, functions_and_their_slopes) {
  unary const table[] = {
      {"exp", [](double x) { return std::exp(x); }, [](auto const& x) { return exp(x); }, -3, 3},
      {"log", [](double x) { return std::log(x); }, [](auto const& x) { return log(x); }, 0.1, 4},
      {"sqrt", [](double x) { return std::sqrt(x); }, [](auto const& x) { return sqrt(x); }, 0.1, 4},
      {"tanh", [](double x) { return std::tanh(x); }, [](auto const& x) { return tanh(x); }, -3, 3},
      {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }, [](auto const& x) { return sigmoid(x); }, -5, 5},
      {"softplus", [](double x) { return std::log(1 + std::exp(x)); }, [](auto const& x) { return softplus(x); }, -5,
       5},
      {"relu above", [](double x) { return x; }, [](auto const& x) { return relu(x); }, 0.01, 3},
      {"relu below", [](double) { return 0.0; }, [](auto const& x) { return relu(x); }, -3, -0.01},
      {"abs above", [](double x) { return x; }, [](auto const& x) { return abs(x); }, 0.01, 3},
      {"abs below", [](double x) { return -x; }, [](auto const& x) { return abs(x); }, -3, -0.01},
      {"negation", [](double x) { return -x; }, [](auto const& x) { return -x; }, -3, 3},
      {"reciprocal", [](double x) { return 1 / x; }, [](auto const& x) { return 1 / x; }, 0.2, 3},
      {"polynomial", [](double x) { return x * x * x / 2 - 3 * x + 1; },
       [](auto const& x) { return x * x * x / 2 - 3 * x + 1; }, -3, 3},
      {"composed", [](double x) { return std::exp(std::tanh(x) * x) / (2 + x); },
       [](auto const& x) { return exp(tanh(x) * x) / (2 + x); }, -1, 3},
  };
  std::mt19937_64 generator(rnnopt_tests::fresh_seed());
  for (unary const& f : table)
    for (int point = 0; point < 200; ++point) {
      double const x = std::uniform_real_distribution<double>(f.from, f.to)(generator), h = 1e-4;
      auto const result = f.differentiated(variable<0>(x));
      double const slope =
          (8 * (f.plain(x + h) - f.plain(x - h)) - (f.plain(x + 2 * h) - f.plain(x - 2 * h))) / (12 * h);
      ASSERT_NEAR(result.value, f.plain(x), 1e-14 * std::fmax(1, std::abs(f.plain(x)))) << f.name << " at " << x;
      ASSERT_NEAR(result.partial<0>(), slope, 1e-8 * std::fmax(1, std::abs(slope))) << f.name << " at " << x;
    }
}

TEST(dual, products_and_quotients_of_several_inputs) {
  auto const x = variable<0>(0.7), y = variable<0>(0.7);
  auto const a = variable<1>(-1.3);
  auto const f = x * a + a / y - (x - a) * (y + 2);
  double const u = 0.7, v = -1.3;
  EXPECT_NEAR(f.value, u * v + v / u - (u - v) * (u + 2), 1e-15);
  EXPECT_NEAR(f.partial<0>(), v - v / (u * u) - (u + 2) - (u - v), 1e-14);
  EXPECT_NEAR(f.partial<1>(), u + 1 / u + (u + 2), 1e-14);
}

TEST(dual, extreme_arguments_stay_finite) {
  for (double const x : {-1e4, -800.0, 800.0, 1e4}) {
    auto const s = sigmoid(variable<0>(x));
    auto const p = softplus(variable<0>(x));
    auto const t = tanh(variable<0>(x));
    EXPECT_EQ(s.value, x > 0 ? 1 : 0);
    EXPECT_EQ(s.partial<0>(), 0);
    EXPECT_EQ(p.value, x > 0 ? x : 0);
    EXPECT_EQ(p.partial<0>(), x > 0 ? 1 : 0);
    EXPECT_EQ(t.value, x > 0 ? 1 : -1);
    EXPECT_EQ(t.partial<0>(), 0);
  }
  EXPECT_EQ(sigmoid(variable<0>(200.0F)).value, 1);
  EXPECT_EQ(sigmoid(variable<0>(-200.0F)).partial<0>(), 0);
  EXPECT_EQ(softplus(variable<0>(-200.0F)).value, 0);
}

TEST(dual, nested_duals_give_second_derivatives) {
  using inner = dual<double, 1U>;
  auto const second = [](auto const& function, double at) {
    dual<inner, 1U> x(variable<0>(at));
    x.values[0] = inner(1);
    x.values[0].values[0] = 0;
    auto const result = function(x);
    return std::tuple(result.value.value, result.value.template partial<0>(), result.template partial<0>().value,
                      result.template partial<0>().template partial<0>());
  };
  auto const check = [&](auto const& function, double at, double f, double df, double ddf) {
    auto const [value, inner_first, outer_first, both] = second(function, at);
    EXPECT_NEAR(value, f, 1e-14);
    EXPECT_NEAR(inner_first, df, 1e-13);
    EXPECT_NEAR(outer_first, df, 1e-13);
    EXPECT_NEAR(both, ddf, 1e-13);
  };
  double const t = std::tanh(0.4), s = 1 / (1 + std::exp(-0.4)), e = std::exp(0.4);
  check([](auto const& x) { return tanh(x); }, 0.4, t, 1 - t * t, -2 * t * (1 - t * t));
  check([](auto const& x) { return sigmoid(x); }, 0.4, s, s * (1 - s), s * (1 - s) * (1 - 2 * s));
  check([](auto const& x) { return softplus(x); }, 0.4, std::log(1 + e), s, s * (1 - s));
  check([](auto const& x) { return exp(x) * x; }, 0.4, e * 0.4, e * 1.4, e * 2.4);
  check([](auto const& x) { return log(x); }, 0.4, std::log(0.4), 2.5, -6.25);
  check([](auto const& x) { return sqrt(x); }, 0.25, 0.5, 1, -2);
  check([](auto const& x) { return 1 / x; }, 0.5, 2, -4, 16);
  check([](auto const& x) { return x * x * x - 2 * x; }, 0.5, -0.875, -1.25, 3);
  check([](auto const& x) { return select(x > 0, x * x, 3 * x); }, 0.5, 0.25, 1, 2);
  check([](auto const& x) { return select(x > 1, x * x, 3 * x); }, 0.5, 1.5, 3, 0);
  check([](auto const& x) { return max(x * x, x); }, 2, 4, 4, 2);
  check([](auto const& x) { return relu(x) * x; }, 2, 4, 4, 2);
}

TEST(dual, what_the_other_branch_holds_does_not_leak) {
  auto const x = variable<0>(-1.0);
  auto const bad = sqrt(x);  // NaN, and so is its slope
  ASSERT_TRUE(std::isnan(bad.value) && std::isnan(bad.partial<0>()));
  auto const y = variable<1>(2.0);
  auto const kept = select(x < 0, y, bad);
  EXPECT_EQ(kept.value, 2);
  EXPECT_EQ(kept.partial<0>(), 0);
  EXPECT_EQ(kept.partial<1>(), 1);
  auto const constant = select(false, bad, 0.5);
  EXPECT_EQ(constant.value, 0.5);
  EXPECT_EQ(constant.partial<0>(), 0);
  // log(0) and 1/0 have infinite slopes, which times zero would be NaN.
  auto const zero = variable<0>(0.0);
  auto const guarded = select(zero > 0, log(zero), -1.0) + select(zero > 0, 1 / zero, 3);
  EXPECT_EQ(guarded.value, 2);
  EXPECT_EQ(guarded.partial<0>(), 0);
}

TEST(dual, nan_comes_through) {
  auto const x = variable<0>(nan_value);
  auto const one = variable<1>(1.0);
  EXPECT_TRUE(std::isnan(relu(x).value));
  EXPECT_TRUE(std::isnan(abs(x).value));
  EXPECT_TRUE(std::isnan(max(x, one).value) && std::isnan(max(one, x).value));
  EXPECT_TRUE(std::isnan(min(x, one).value) && std::isnan(min(one, x).value));
  EXPECT_TRUE(std::isnan(max(x, 0).value) && std::isnan(min(0, x).value));
  EXPECT_TRUE(std::isnan(tanh(x).value) && std::isnan(sigmoid(x).value) && std::isnan(softplus(x).value));
  EXPECT_TRUE(std::isnan(select(true, x, one).value));
  EXPECT_FALSE(std::isnan(select(false, x, one).value));
}

TEST(dual, ties_follow_the_documentation) {
  EXPECT_EQ(relu(variable<0>(0.0)).partial<0>(), 0);
  EXPECT_EQ(abs(variable<0>(0.0)).partial<0>(), 1);
  auto const a = variable<0>(1.0);
  auto const b = variable<1>(1.0);
  EXPECT_EQ(max(a, b).partial<0>(), 1);
  EXPECT_EQ(max(a, b).partial<1>(), 0);
  EXPECT_EQ(min(a, b).partial<0>(), 1);
  EXPECT_EQ(min(a, b).partial<1>(), 0);
  EXPECT_EQ(max(a, 2).value, 2);
  EXPECT_EQ(max(a, 2).partial<0>(), 0);
  EXPECT_EQ(min(a, 2).partial<0>(), 1);
}

namespace with_std {
using namespace std;

// std::max and std::min take two arguments of one type as well; they must not be chosen.
template <class T>
auto larger(T const& a, T const& b) {
  return max(a, b);
}
template <class T>
auto smaller(T const& a, T const& b) {
  return min(a, b);
}
}  // namespace with_std

TEST(dual, min_and_max_are_ours_after_a_using_directive) {
  rnnopt::dual<double> const one(1.0), nan(std::nan(""));
  EXPECT_TRUE(std::isnan(with_std::larger(one, nan).value));
  EXPECT_TRUE(std::isnan(with_std::smaller(one, nan).value));
  EXPECT_TRUE(std::isnan(with_std::larger(nan, one).value));
  EXPECT_EQ(with_std::larger(one, rnnopt::dual<double>(2.0)).value, 2);
  EXPECT_EQ(with_std::smaller(one, rnnopt::dual<double>(2.0)).value, 1);
}

TEST(dual, equality_looks_at_values) {
  auto const a = variable<0>(2.0);
  EXPECT_TRUE(a == 2 && 2.0 == a && a != 3 && a == variable<1>(2.0));
  EXPECT_FALSE(a != 2 || a == 1 || rnnopt::dual<double>(std::nan("")) == std::nan(""));
}

}  // namespace

// Rows of different lengths: every row gives what it gives alone, padding takes no part, order does not matter.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "all_cells.hpp"
#include "host_reference.hpp"

namespace {

using namespace rnnopt_tests;
using rnnopt::extents;

using subjects = testing::Types<subject<rnnopt::lstm, rnnopt::fp32>, subject<rnnopt::gru, rnnopt::fp64>,
                                subject<cells::peephole_lstm, rnnopt::fp16>, subject<cells::slstm, rnnopt::fp32>>;

template <class Subject>
struct lengths : testing::Test {
  using numbers = typename Subject::numbers;

  /// Calls test(numbers) for several networks and length patterns; the random one comes last.
  template <class Test>
  void on_networks(Test const& test) {
    std::vector<std::int32_t> const patterns[] = {{5, 2, 3}, {0, 0, 0}, {3, 0, 1}, {0, 3, 0}, {5, 5, 0}, {5, 3, 0}, {}};
    for (std::int64_t layers : {1, 2})
      for (std::int64_t directions : {1, 2})
        for (auto const& pattern : patterns) {
          numbers n(pattern.empty() ? extents{layers, 3, 33, 6, 7, directions}
                                    : extents{layers, 4, 6, 3, 5, directions});
          if (pattern.empty()) n.draw_lengths();
          else n.lengths = pattern;
          std::string text;
          for (auto const length : n.lengths) text += " " + std::to_string(length);
          SCOPED_TRACE(n.description() + ", lengths" + text);
          test(n);
          if (testing::Test::HasFatalFailure()) return;
        }
  }
};
TYPED_TEST_SUITE(lengths, subjects);

/// Row `from` of [planes, rows, width] to row `to` of [other planes, other rows, width].
template <class T>
void copy_row(std::vector<T> const& source, std::int64_t rows, std::int64_t from, std::vector<T>& target,
              std::int64_t target_rows, std::int64_t to, std::int64_t planes, std::int64_t width) {
  for (std::int64_t p = 0; p < planes; ++p)
    std::copy_n(source.begin() + (p * rows + from) * width, width, target.begin() + (p * target_rows + to) * width);
}

TYPED_TEST(lengths, a_row_gives_what_it_gives_alone) {
  this->on_networks([](auto const& numbers) {
    extents const& e = numbers.e;
    typename TypeParam::run all(numbers);
    all.run();
    std::int64_t const wide = e.directions * e.hidden;
    std::vector<double> sum(numbers.weights.size());
    auto expected = all.out;
    auto const zero = [](auto& values) {
      for (auto& value : values) value = static_cast<std::decay_t<decltype(value)>>(0.0F);
    };
    zero(expected.y), zero(expected.dx);  // what padding holds
    for (std::int64_t row = 0; row < e.batch; ++row) {
      extents one = e;
      one.batch = 1, one.steps = numbers.lengths[std::size_t(row)];
      typename TypeParam::numbers n(one);
      n.weights = numbers.weights;
      copy_row(numbers.x, e.batch, row, n.x, 1, 0, one.steps, e.input);
      copy_row(numbers.dy, e.batch, row, n.dy, 1, 0, one.steps, wide);
      copy_row(numbers.h, e.batch, row, n.h, 1, 0, e.lines(), e.hidden);
      copy_row(numbers.dh, e.batch, row, n.dh, 1, 0, e.lines(), e.hidden);
      for (std::size_t s = 0; s < n.other_states; ++s) {
        copy_row(numbers.others[s], e.batch, row, n.others[s], 1, 0, e.lines(), e.hidden);
        copy_row(numbers.dothers[s], e.batch, row, n.dothers[s], 1, 0, e.lines(), e.hidden);
      }
      typename TypeParam::run alone(n);
      alone.run();
      copy_row(alone.out.y, 1, 0, expected.y, e.batch, row, one.steps, wide);
      copy_row(alone.out.dx, 1, 0, expected.dx, e.batch, row, one.steps, e.input);
      copy_row(alone.out.h, 1, 0, expected.h, e.batch, row, e.lines(), e.hidden);
      copy_row(alone.out.dh, 1, 0, expected.dh, e.batch, row, e.lines(), e.hidden);
      for (std::size_t s = 0; s < n.other_states; ++s) {
        copy_row(alone.out.others[s], 1, 0, expected.others[s], e.batch, row, e.lines(), e.hidden);
        copy_row(alone.out.dothers[s], 1, 0, expected.dothers[s], e.batch, row, e.lines(), e.hidden);
      }
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += double(alone.out.dweights[i]);
    }
    // Same products, same order of sums within a row: same values. Sums over rows are ordered differently.
    for (std::string const& failure : beyond(0, all.out, expected)) ADD_FAILURE() << failure;
    double const roundings = 20 * double(std::numeric_limits<typename TypeParam::precision::accumulate>::epsilon());
    EXPECT_LE(relative_error(all.out.dweights, sum), roundings);
  });
}

TYPED_TEST(lengths, padding_takes_no_part_even_where_it_is_nan) {
  this->on_networks([](auto const& numbers) {
    using storage = typename TypeParam::precision::storage;
    extents const& e = numbers.e;
    auto const nan = static_cast<storage>(std::numeric_limits<float>::quiet_NaN());
    typename TypeParam::numbers padded = numbers;
    for (std::int64_t t = 0; t < e.steps; ++t)
      for (std::int64_t row = 0; row < e.batch; ++row)
        if (t >= numbers.lengths[std::size_t(row)]) {
          std::fill_n(padded.x.begin() + (t * e.batch + row) * e.input, e.input, nan);
          std::int64_t const wide = e.directions * e.hidden;
          std::fill_n(padded.dy.begin() + (t * e.batch + row) * wide, wide, nan);
        }
    typename TypeParam::run plain(numbers), with_nan(padded), inferred(padded);
    plain.run();
    with_nan.run();
    for (std::string const& failure : beyond(0, with_nan.out, plain.out)) ADD_FAILURE() << failure;
    inferred.infer();
    EXPECT_TRUE(same_bits(inferred.out.y, with_nan.out.y));
    EXPECT_TRUE(same_bits(inferred.out.h, with_nan.out.h));
    for (std::int64_t t = 0; t < e.steps; ++t)
      for (std::int64_t row = 0; row < e.batch; ++row)
        if (t >= numbers.lengths[std::size_t(row)]) {
          for (std::int64_t i = 0; i < e.input; ++i)
            ASSERT_EQ(double(with_nan.out.dx[std::size_t((t * e.batch + row) * e.input + i)]), 0);
        }
  });
}

TYPED_TEST(lengths, permuted_rows_give_permuted_results) {
  this->on_networks([](auto const& numbers) {
    extents const& e = numbers.e;
    std::vector<std::int64_t> order(static_cast<std::size_t>(e.batch));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937_64(numbers.seed));
    typename TypeParam::numbers permuted = numbers;
    typename TypeParam::run plain(numbers);
    plain.run();
    auto expected = plain.out;
    std::int64_t const wide = e.directions * e.hidden;
    for (std::int64_t to = 0; to < e.batch; ++to) {
      std::int64_t const from = order[std::size_t(to)];
      auto const move = [&](auto const& source, auto& target, std::int64_t planes, std::int64_t width) {
        copy_row(source, e.batch, from, target, e.batch, to, planes, width);
      };
      permuted.lengths[std::size_t(to)] = numbers.lengths[std::size_t(from)];
      move(numbers.x, permuted.x, e.steps, e.input);
      move(numbers.dy, permuted.dy, e.steps, wide);
      move(numbers.h, permuted.h, e.lines(), e.hidden);
      move(numbers.dh, permuted.dh, e.lines(), e.hidden);
      move(plain.out.y, expected.y, e.steps, wide);
      move(plain.out.dx, expected.dx, e.steps, e.input);
      move(plain.out.h, expected.h, e.lines(), e.hidden);
      move(plain.out.dh, expected.dh, e.lines(), e.hidden);
      for (std::size_t s = 0; s < numbers.other_states; ++s) {
        move(numbers.others[s], permuted.others[s], e.lines(), e.hidden);
        move(numbers.dothers[s], permuted.dothers[s], e.lines(), e.hidden);
        move(plain.out.others[s], expected.others[s], e.lines(), e.hidden);
        move(plain.out.dothers[s], expected.dothers[s], e.lines(), e.hidden);
      }
    }
    typename TypeParam::run run(permuted);
    run.run();
    double const roundings = 20 * double(std::numeric_limits<typename TypeParam::precision::accumulate>::epsilon());
    EXPECT_LE(relative_error(run.out.dweights, plain.out.dweights), roundings);
    run.out.dweights = expected.dweights;
    for (std::string const& failure : different_bits(run.out, expected)) ADD_FAILURE() << failure;
  });
}

TYPED_TEST(lengths, full_lengths_are_no_lengths) {
  typename TypeParam::numbers numbers(extents{2, 4, 6, 3, 5, 2}), full = numbers;
  SCOPED_TRACE(numbers.description());
  full.lengths = {5, 5, 5};
  typename TypeParam::run without(numbers), with(full);
  without.run();
  with.run();
  double const roundings = 20 * double(std::numeric_limits<typename TypeParam::precision::accumulate>::epsilon());
  EXPECT_LE(relative_error(with.out.dweights, without.out.dweights), roundings);
  with.out.dweights = without.out.dweights;
  for (std::string const& failure : different_bits(with.out, without.out)) ADD_FAILURE() << failure;
}

/// Both directions of a sum of positive numbers: exact in any precision.
template <class Precision>
void sum_both_ways(float bias, float padding, std::vector<float> const& y_wanted, std::vector<float> const& h_wanted) {
  using storage = typename Precision::storage;
  random_network<vanilla_relu, Precision> numbers(extents{1, 1, 1, 2, 3, 2});
  auto const set = [](std::vector<storage>& into, std::vector<float> const& from) {
    ASSERT_EQ(into.size(), from.size());
    for (std::size_t i = 0; i < from.size(); ++i) into[i] = storage(from[i]);
  };
  set(numbers.x, {1, 4, 2, 5, 3, padding});
  set(numbers.h, {0, 0, 0, 0});
  set(numbers.weights, {1, 1, bias, 1, 1, bias});
  numbers.lengths = {3, 2};
  host_run<vanilla_relu, Precision> run(numbers);
  run.infer();
  auto const floats = [](std::vector<storage> const& values) {
    std::vector<float> result;
    for (storage const value : values) result.push_back(float(value));
    return result;
  };
  EXPECT_EQ(floats(run.out.y), y_wanted);
  EXPECT_EQ(floats(run.out.h), h_wanted);
}

TEST(bidirectional, starts_at_the_last_step_of_each_row) {
  // Rows 1 2 3 and 4 5; y is [step][row][forward, reversed], 0 in padding; h is [direction][row].
  auto const run = [](auto precision) {
    using type = decltype(precision);
    for (float const padding : {9.0F, std::numeric_limits<float>::quiet_NaN()}) {
      sum_both_ways<type>(0, padding, {1, 6, 4, 9, 3, 5, 9, 5, 6, 3, 0, 0}, {6, 9, 6, 9});
      sum_both_ways<type>(1, padding, {2, 9, 5, 11, 5, 7, 11, 6, 9, 4, 0, 0}, {9, 11, 9, 11});
    }
  };
  run(rnnopt::fp64());
  run(rnnopt::fp32());
  run(rnnopt::tf32());
  run(rnnopt::fp16());
  run(rnnopt::bf16());
}

}  // namespace

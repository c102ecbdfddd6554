#include "rnnopt/host/product.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "rnnopt/host/thread_pool.hpp"
#include "seeded.hpp"

namespace {

using rnnopt::bfloat16;
using rnnopt::half;
using rnnopt::detail::operand;
using rnnopt::detail::product;
using rnnopt::detail::thread_pool;
using rnnopt_tests::seeded;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Distance between neighbouring values at one.
template <class T>
double epsilon() {
  if constexpr (std::is_same_v<T, half>) return 0x1p-10;
  else if constexpr (std::is_same_v<T, bfloat16>) return 0x1p-7;
  else return static_cast<double>(std::numeric_limits<T>::epsilon());
}

/// Distance between neighbouring values at zero.
template <class T>
double smallest() {
  if constexpr (std::is_same_v<T, half>) return 0x1p-24;
  else if constexpr (std::is_same_v<T, bfloat16>) return 0x1p-133;
  else return static_cast<double>(std::numeric_limits<T>::denorm_min());
}

enum class layout { rows, padded_rows, columns, padded_columns, scattered };
constexpr layout layouts[] = {layout::rows, layout::padded_rows, layout::columns, layout::padded_columns,
                              layout::scattered};

/// A matrix in storage that is not an element longer than it has to be, NaN wherever no element is.
template <class T>
struct matrix {
  template <class Value>
  matrix(std::int64_t rows, std::int64_t columns, layout order, Value&& value) {
    switch (order) {
      case layout::rows:
        row_stride_ = columns, column_stride_ = 1;
        break;
      case layout::padded_rows:
        row_stride_ = columns + 5, column_stride_ = 1;
        break;
      case layout::columns:
        row_stride_ = 1, column_stride_ = rows;
        break;
      case layout::padded_columns:
        row_stride_ = 1, column_stride_ = rows + 3;
        break;
      case layout::scattered:
        row_stride_ = 3 * columns + 2, column_stride_ = 3;
        break;
    }
    if (rows > 0 && columns > 0)
      storage_.assign(static_cast<std::size_t>((rows - 1) * row_stride_ + (columns - 1) * column_stride_ + 1), T(nan));
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) at(i, j) = T(value());
    }
  }

  T& at(std::int64_t i, std::int64_t j) {
    return storage_[static_cast<std::size_t>(i * row_stride_ + j * column_stride_)];
  }
  T const& at(std::int64_t i, std::int64_t j) const {
    return storage_[static_cast<std::size_t>(i * row_stride_ + j * column_stride_)];
  }
  std::vector<double> in_double(std::int64_t rows, std::int64_t columns) const {
    std::vector<double> values;
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) values.push_back(static_cast<double>(at(i, j)));
    }
    return values;
  }
  operand<T> view() const { return {storage_.data(), row_stride_, column_stride_}; }

  std::vector<T> storage_;
  std::int64_t row_stride_ = 0, column_stride_ = 0;
};

/// C, with rows longer than needed: the gaps hold NaN and must keep their bits.
template <class C>
struct output {
  output(std::int64_t rows, std::int64_t columns)
      : rows_(rows),
        columns_(columns),
        stride_(columns + 3),
        values_(static_cast<std::size_t>(rows * stride_), C(nan)) {}

  C& at(std::int64_t i, std::int64_t j) { return values_[static_cast<std::size_t>(i * stride_ + j)]; }
  template <class Value>
  void fill(Value&& value) {
    for (std::int64_t i = 0; i < rows_; ++i) {
      for (std::int64_t j = 0; j < columns_; ++j) at(i, j) = C(value());
    }
  }
  std::vector<double> in_double() {
    std::vector<double> values;
    for (std::int64_t i = 0; i < rows_; ++i) {
      for (std::int64_t j = 0; j < columns_; ++j) values.push_back(static_cast<double>(at(i, j)));
    }
    return values;
  }
  bool gaps_intact() const {
    C const untouched(nan);
    for (std::size_t i = 0; i < values_.size(); ++i) {
      bool const gap = static_cast<std::int64_t>(i) % stride_ >= columns_;
      if (gap && std::memcmp(&values_[i], &untouched, sizeof untouched) != 0) return false;
    }
    return true;
  }

  std::int64_t rows_, columns_, stride_;
  std::vector<C> values_;
};

template <class T>
bool same_bits(std::vector<T> const& a, std::vector<T> const& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/// All that the check of a product needs, in row-major double: outside of templates, which are many here.
struct product_case {
  std::int64_t m, n, k;
  layout a_layout, b_layout;
  double beta;
  std::vector<double> a, b, old, c;
  double accumulate_epsilon, c_epsilon, c_smallest;

  /// Against loops in double, within a bound on the rounding errors: of the conversion of the operands, of the sum, and
  /// of the last rounding.
  void check() const {
    SCOPED_TRACE("m " + std::to_string(m) + " n " + std::to_string(n) + " k " + std::to_string(k) + " beta " +
                 std::to_string(beta) + " layouts " + std::to_string(static_cast<int>(a_layout)) + " " +
                 std::to_string(static_cast<int>(b_layout)));
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        std::size_t const index = static_cast<std::size_t>(i * n + j);
        double expected = beta != 0 ? beta * old[index] : 0.0;
        double magnitude = std::fabs(expected);
        for (std::int64_t p = 0; p < k; ++p) {
          double const term = a[static_cast<std::size_t>(i * k + p)] * b[static_cast<std::size_t>(p * n + j)];
          expected += term;
          magnitude += std::fabs(term);
        }
        double const bound = accumulate_epsilon * static_cast<double>(k + 3) * magnitude +
                             0.5 * c_epsilon * std::fabs(expected) + 0.5 * c_smallest;
        double const error = std::fabs(c[index] - expected);
        ASSERT_TRUE(error <= bound * (1 + c_epsilon)) << "c[" << i << "][" << j << "] is off by " << error;
      }
    }
  }
};

template <class Accumulate, class A, class B, class C>
void check_random(seeded& source, std::int64_t m, std::int64_t n, std::int64_t k, layout a_layout, layout b_layout,
                  Accumulate beta) {
  matrix<A> const a(m, k, a_layout, [&] { return source.uniform(); });
  matrix<B> const b(k, n, b_layout, [&] { return source.uniform(); });
  output<C> c(m, n);
  if (beta != 0) c.fill([&] { return source.uniform(); });
  std::vector<double> const old = c.in_double();
  product(m, n, k, a.view(), b.view(), c.values_.data(), c.stride_, beta);
  EXPECT_TRUE(c.gaps_intact());
  product_case{m,
               n,
               k,
               a_layout,
               b_layout,
               static_cast<double>(beta),
               a.in_double(m, k),
               b.in_double(k, n),
               old,
               c.in_double(),
               epsilon<Accumulate>(),
               epsilon<C>(),
               smallest<C>()}
      .check();
}

template <class A, class B>
void check_types() {
  seeded source;
  auto const check = [&](auto accumulate, auto c) {
    using accumulate_type = decltype(accumulate);
    using c_type = decltype(c);
    for (layout a_layout : layouts) {
      for (layout b_layout : layouts) {
        check_random<accumulate_type, A, B, c_type>(source, source.integer(1, 20), source.integer(1, 70),
                                                    source.integer(1, 40), a_layout, b_layout,
                                                    accumulate_type(source.integer(-1, 1)) / 2);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  };
  check(float(), float());
  check(float(), double());
  check(float(), half());
  check(float(), bfloat16());
  check(double(), float());
  check(double(), double());
  check(double(), half());
  check(double(), bfloat16());
}

TEST(product, float_times_float) { check_types<float, float>(); }
TEST(product, float_times_double) { check_types<float, double>(); }
TEST(product, float_times_half) { check_types<float, half>(); }
TEST(product, float_times_bfloat16) { check_types<float, bfloat16>(); }
TEST(product, double_times_float) { check_types<double, float>(); }
TEST(product, double_times_double) { check_types<double, double>(); }
TEST(product, double_times_half) { check_types<double, half>(); }
TEST(product, double_times_bfloat16) { check_types<double, bfloat16>(); }
TEST(product, half_times_float) { check_types<half, float>(); }
TEST(product, half_times_double) { check_types<half, double>(); }
TEST(product, half_times_half) { check_types<half, half>(); }
TEST(product, half_times_bfloat16) { check_types<half, bfloat16>(); }
TEST(product, bfloat16_times_float) { check_types<bfloat16, float>(); }
TEST(product, bfloat16_times_double) { check_types<bfloat16, double>(); }
TEST(product, bfloat16_times_half) { check_types<bfloat16, half>(); }
TEST(product, bfloat16_times_bfloat16) { check_types<bfloat16, bfloat16>(); }

TEST(product, sizes_around_every_block) {
  seeded source;
  for (std::int64_t size : {1, 5, 6, 7, 8, 9, 12, 13, 16, 17, 18, 31, 32, 33, 127, 128, 129, 130, 255, 256, 257, 300}) {
    for (int extent = 0; extent < 3; ++extent) {
      std::int64_t const m = extent == 0 ? size : source.integer(1, 40);
      std::int64_t const n = extent == 1 ? size : source.integer(1, 70);
      std::int64_t const k = extent == 2 ? size : source.integer(1, 40);
      layout const a_layout = layouts[source.integer(0, 4)], b_layout = layouts[source.integer(0, 4)];
      check_random<float, float, float, float>(source, m, n, k, a_layout, b_layout, 0.0f);
      check_random<double, float, double, double>(source, m, n, k, a_layout, b_layout, 1.0);
      check_random<float, half, half, half>(source, m, n, k, a_layout, b_layout, -0.5f);
      if (HasFatalFailure()) return;
    }
  }
  for (layout a_layout : layouts) {
    check_random<float, float, float, float>(source, 143, 301, 522, a_layout, layout::columns, 1.0f);
    check_random<float, bfloat16, half, float>(source, 261, 67, 530, a_layout, layout::rows, 0.0f);
    if (HasFatalFailure()) return;
  }
}

/// With small integers every sum is exact: what is left is the one rounding to C.
template <class C, class Accumulate>
void check_exact(Accumulate beta) {
  seeded source;
  std::int64_t const m = source.integer(1, 150), n = source.integer(1, 300), k = source.integer(1, 600);
  auto const digit = [&] { return static_cast<double>(source.integer(-9, 9)); };
  matrix<half> const a(m, k, layout::columns, digit);
  matrix<bfloat16> const b(k, n, layout::columns, digit);
  output<C> c(m, n);
  output<C> expected(m, n);
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::int64_t p = 0; p < k; ++p) sum += static_cast<double>(a.at(i, p)) * static_cast<double>(b.at(p, j));
      if (beta != 0) {
        c.at(i, j) = C(digit());
        sum += static_cast<double>(beta) * static_cast<double>(c.at(i, j));
      }
      expected.at(i, j) = C(sum);
    }
  }
  product(m, n, k, a.view(), b.view(), c.values_.data(), c.stride_, beta);
  EXPECT_TRUE(same_bits(c.values_, expected.values_)) << m << " " << n << " " << k;
}

TEST(product, rounds_once) {
  for (float beta : {0.0f, 1.0f, 0.5f, -3.0f}) {
    check_exact<half>(beta);
    check_exact<bfloat16>(beta);
    check_exact<float>(beta);
    check_exact<double>(beta);
    check_exact<half>(static_cast<double>(beta));
    check_exact<bfloat16>(static_cast<double>(beta));
  }
}

TEST(product, beta_zero_overwrites_nan_and_other_beta_keeps_it) {
  seeded source;
  matrix<float> const a(5, 9, layout::rows, [&] { return source.uniform(); });
  matrix<float> const b(9, 40, layout::rows, [&] { return source.uniform(); });
  std::vector<float> c(200, std::numeric_limits<float>::quiet_NaN());
  product(5, 40, 9, a.view(), b.view(), c.data(), 40, 1.0f);
  for (float value : c) EXPECT_TRUE(std::isnan(value));
  product(5, 40, 9, a.view(), b.view(), c.data(), 40, 0.0f);
  for (float value : c) EXPECT_TRUE(std::isfinite(value));
}

TEST(product, empty_extents) {
  std::vector<half> c(6);
  for (int i = 0; i < 6; ++i) c[static_cast<std::size_t>(i)] = half(i);
  operand<float> const nothing{nullptr, 7, 1};
  std::vector<half> const before = c;
  product(0, 3, 4, nothing, nothing, c.data(), 3, 0.0f);
  product(2, 0, 4, nothing, nothing, c.data(), 3, 0.0f);
  product(0, 0, 0, nothing, nothing, static_cast<half*>(nullptr), 0, 0.0f);
  EXPECT_TRUE(same_bits(c, before));
  product(2, 3, 0, nothing, nothing, c.data(), 3, 1.0f);
  EXPECT_TRUE(same_bits(c, before));
  product(2, 3, 0, nothing, nothing, c.data(), 3, 0.5f);
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(static_cast<float>(c[static_cast<std::size_t>(i)]), 0.5f * static_cast<float>(i));
  c.assign(6, half(nan));
  product(2, 3, 0, nothing, nothing, c.data(), 3, 0.0f);
  for (half value : c) EXPECT_EQ(value.bits, 0);
}

TEST(product, nan_and_infinity_propagate) {
  seeded source;
  for (double special : {nan, std::numeric_limits<double>::infinity()}) {
    for (layout order : layouts) {
      std::int64_t const m = source.integer(2, 40), n = source.integer(2, 70), k = source.integer(2, 40);
      matrix<half> a(m, k, order, [] { return 0.0; });  // 0 * NaN and 0 * infinity are NaN
      matrix<float> b(k, n, order, [] { return 0.0; });
      std::int64_t const row = source.integer(0, m - 1), column = source.integer(0, n - 1);
      a.at(row, source.integer(0, k - 1)) = half(special);
      b.at(source.integer(0, k - 1), column) = static_cast<float>(special);
      output<float> c(m, n);
      product(m, n, k, a.view(), b.view(), c.values_.data(), c.stride_, 0.0f);
      for (std::int64_t i = 0; i < m; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
          // Where both specials meet in one term, infinity * infinity stays infinity unless another term is NaN.
          if (i == row && j == column) ASSERT_FALSE(std::isfinite(c.at(i, j)));
          else if (i == row || j == column) ASSERT_TRUE(std::isnan(c.at(i, j)));
          else ASSERT_EQ(c.at(i, j), 0.0f);
        }
      }
    }
  }
}

TEST(product, rounds_operands_to_tf32_if_asked) {
  seeded source;
  for (layout order : layouts) {
    std::int64_t const m = source.integer(1, 40), n = source.integer(1, 70), k = source.integer(20, 300);
    matrix<float> a(m, k, order, [&] { return source.uniform(); });
    matrix<float> b(k, n, order, [&] { return source.uniform(); });
    output<float> exact(m, n), asked(m, n), rounded(m, n);
    product(m, n, k, a.view(), b.view(), exact.values_.data(), exact.stride_, 0.0f);
    product<true>(m, n, k, a.view(), b.view(), asked.values_.data(), asked.stride_, 0.0f);
    for (float& value : a.storage_) value = rnnopt::round_to_tf32(value);
    for (float& value : b.storage_) value = rnnopt::round_to_tf32(value);
    product(m, n, k, a.view(), b.view(), rounded.values_.data(), rounded.stride_, 0.0f);
    EXPECT_TRUE(same_bits(asked.values_, rounded.values_));
    EXPECT_FALSE(same_bits(asked.values_, exact.values_));
  }
}

/// Runs f in a thread that the pool takes for one of its own: what f calls of the pool then runs in that thread alone.
template <class F>
void in_one_thread(F&& f) {
  thread_pool::instance().parallel_for(2, [&](std::int64_t i) {
    if (i == 0) f();
  });
}

TEST(product, has_the_same_bits_in_one_thread_and_in_many) {
  seeded source;
  auto const check = [&](auto element, std::int64_t m, std::int64_t n, std::int64_t k) {
    using type = decltype(element);
    for (layout order : layouts) {
      matrix<type> const a(m, k, order, [&] { return source.uniform(); });
      matrix<type> const b(k, n, order, [&] { return source.uniform(); });
      output<float> many(m, n);
      many.fill([&] { return source.uniform(); });
      output<float> one = many;
      float const beta = order == layout::rows ? 0.0f : 0.7f;
      product(m, n, k, a.view(), b.view(), many.values_.data(), many.stride_, beta);
      in_one_thread([&] { product(m, n, k, a.view(), b.view(), one.values_.data(), one.stride_, beta); });
      EXPECT_TRUE(same_bits(many.values_, one.values_)) << m << " " << n << " " << k;
    }
  };
  check(float(), 33, 517, 130);
  check(float(), 301, 129, 611);
  check(half(), 150, 150, 300);
}

TEST(product, rows_do_not_depend_on_each_other) {
  seeded source;
  std::int64_t const m = 140, n = 75, k = 333;
  for (layout order : layouts) {
    matrix<float> const a(m, k, order, [&] { return source.uniform(); });
    matrix<float> const b(k, n, order, [&] { return source.uniform(); });
    output<float> whole(m, n), parts(m, n);
    product(m, n, k, a.view(), b.view(), whole.values_.data(), whole.stride_, 0.0f);
    for (std::int64_t i = 0; i < m;) {
      std::int64_t const rows = std::min(m - i, source.integer(1, 20));
      operand<float> part = a.view();
      part.data += i * part.row_stride;
      product(rows, n, k, part, b.view(), parts.values_.data() + i * parts.stride_, parts.stride_, 0.0f);
      i += rows;
    }
    EXPECT_TRUE(same_bits(whole.values_, parts.values_));
  }
}

TEST(product, serves_several_threads_at_once) {
  seeded source;
  std::int64_t const m = 64, n = 256, k = 100;
  matrix<float> const a(m, k, layout::rows, [&] { return source.uniform(); });
  matrix<float> const b(k, n, layout::columns, [&] { return source.uniform(); });
  output<float> expected(m, n);
  product(m, n, k, a.view(), b.view(), expected.values_.data(), expected.stride_, 0.0f);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int repeat = 0; repeat < 20; ++repeat) {
        output<float> c(m, n);
        product(m, n, k, a.view(), b.view(), c.values_.data(), c.stride_, 0.0f);
        wrong += !same_bits(c.values_, expected.values_);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace

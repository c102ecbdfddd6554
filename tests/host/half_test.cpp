#include "rnnopt/half.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using rnnopt::bfloat16;
using rnnopt::half;

static_assert(!std::is_convertible_v<float, half> && !std::is_convertible_v<half, float>, "conversions are explicit");
static_assert(!std::is_convertible_v<float, bfloat16> && !std::is_convertible_v<bfloat16, float>,
              "conversions are explicit");
static_assert(std::is_constructible_v<float, half> && std::is_constructible_v<double, half>, "both are exact");
static_assert(std::is_standard_layout_v<bfloat16> && std::is_trivially_copyable_v<bfloat16>, "goes to the device");

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class T>
struct format;
template <>
struct format<half> {
  static constexpr int mantissa = 10, bias = 15;
  static constexpr std::uint16_t infinite = 0x7c00;
};
template <>
struct format<bfloat16> {
  static constexpr int mantissa = 7, bias = 127;
  static constexpr std::uint16_t infinite = 0x7f80;
};

template <class T>
T from_bits(unsigned bits) {
  T value;
  value.bits = static_cast<std::uint16_t>(bits);
  return value;
}

/// The value of a pattern with the sign clear, from the definition; infinity as if the exponent went on.
template <class T>
double magnitude_of(unsigned bits) {
  int const exponent = static_cast<int>(bits >> format<T>::mantissa);
  double const fraction = static_cast<double>(bits & ((1u << format<T>::mantissa) - 1)) / (1 << format<T>::mantissa);
  return exponent == 0 ? std::ldexp(fraction, 1 - format<T>::bias)
                       : std::ldexp(1 + fraction, exponent - format<T>::bias);
}

/// Nearest even by bisection over all patterns.
template <class T>
unsigned nearest(double value) {
  if (std::isnan(value)) return 0x7fff;
  double const magnitude = std::fabs(value);
  unsigned low = 0, high = format<T>::infinite;
  while (high - low > 1) {
    unsigned const middle = (low + high) / 2;
    (magnitude_of<T>(middle) <= magnitude ? low : high) = middle;
  }
  double const midpoint = (magnitude_of<T>(low) + magnitude_of<T>(high)) / 2;  // exact in double
  unsigned const bits = magnitude > midpoint || (magnitude == midpoint && low % 2 == 1) ? high : low;
  return bits | (std::signbit(value) ? 0x8000u : 0u);
}

template <class T>
class half_test : public testing::Test {};
using types = testing::Types<half, bfloat16>;
struct type_names {
  template <class T>
  static std::string GetName(int) {
    return std::is_same_v<T, half> ? "half" : "bfloat16";
  }
};
TYPED_TEST_SUITE(half_test, types, type_names);

TYPED_TEST(half_test, every_pattern_has_its_value_and_comes_back) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    TypeParam const value = from_bits<TypeParam>(bits);
    float const single = static_cast<float>(value);
    unsigned const magnitude = bits & 0x7fffu;
    if (magnitude > format<TypeParam>::infinite) {
      ASSERT_TRUE(std::isnan(single)) << bits;
      ASSERT_TRUE(std::isnan(static_cast<double>(value))) << bits;
      ASSERT_EQ(TypeParam(single).bits, 0x7fff) << bits;
      ASSERT_EQ(TypeParam(static_cast<double>(value)).bits, 0x7fff) << bits;
      continue;
    }
    double const expected = magnitude == format<TypeParam>::infinite ? infinity : magnitude_of<TypeParam>(magnitude);
    ASSERT_EQ(static_cast<double>(single), bits >= 0x8000 ? -expected : expected) << bits;
    ASSERT_EQ(std::signbit(single), bits >= 0x8000) << bits;
    ASSERT_EQ(static_cast<double>(value), static_cast<double>(single)) << bits;
    ASSERT_EQ(static_cast<float>(value), single) << bits;
    ASSERT_EQ(TypeParam(single).bits, bits);
    ASSERT_EQ(TypeParam(static_cast<double>(value)).bits, bits);
  }
}

TYPED_TEST(half_test, every_midpoint_and_its_neighbours_round_to_nearest_even) {
  for (unsigned bits = 0; bits < format<TypeParam>::infinite; ++bits) {
    double const midpoint = (magnitude_of<TypeParam>(bits) + magnitude_of<TypeParam>(bits + 1)) / 2;
    unsigned const even = bits + bits % 2;
    for (double sign : {1.0, -1.0}) {
      unsigned const top = sign < 0 ? 0x8000u : 0u;
      double const outward = sign * infinity;
      ASSERT_EQ(TypeParam(sign * midpoint).bits, even | top) << bits;
      // A rounding by way of a float would land on the midpoint here.
      ASSERT_EQ(TypeParam(std::nextafter(sign * midpoint, outward)).bits, (bits + 1) | top) << bits;
      ASSERT_EQ(TypeParam(std::nextafter(sign * midpoint, 0.0)).bits, bits | top) << bits;
      float const single = static_cast<float>(sign * midpoint);
      ASSERT_EQ(static_cast<double>(single), sign * midpoint);
      ASSERT_EQ(TypeParam(single).bits, even | top) << bits;
      ASSERT_EQ(TypeParam(std::nextafter(single, static_cast<float>(outward))).bits, (bits + 1) | top) << bits;
      ASSERT_EQ(TypeParam(std::nextafter(single, 0.0f)).bits, bits | top) << bits;
    }
  }
}

TYPED_TEST(half_test, random_patterns_round_to_nearest_even) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int n = 0; n < 300000; ++n) {
    std::uint64_t const bits = random();
    float single;
    std::memcpy(&single, &bits, sizeof single);
    ASSERT_EQ(TypeParam(single).bits, nearest<TypeParam>(static_cast<double>(single))) << single;
    double wide;
    std::memcpy(&wide, &bits, sizeof wide);
    ASSERT_EQ(TypeParam(wide).bits, nearest<TypeParam>(wide)) << wide;
    // Most patterns of a double are out of range; these are not.
    double const near = std::ldexp(wide / std::ldexp(1.0, std::ilogb(wide)), static_cast<int>(random() % 45) - 28);
    ASSERT_EQ(TypeParam(near).bits, nearest<TypeParam>(near)) << near;
  }
}

TYPED_TEST(half_test, extremes) {
  using limits = std::numeric_limits<double>;
  unsigned const infinite = format<TypeParam>::infinite;
  for (double value : {infinity, limits::max(), 1e39}) {
    EXPECT_EQ(TypeParam(value).bits, infinite);
    EXPECT_EQ(TypeParam(-value).bits, infinite | 0x8000u);
  }
  EXPECT_EQ(TypeParam(std::numeric_limits<float>::max()).bits, infinite);
  for (double value : {0.0, limits::denorm_min(), limits::min(), 1e-45}) {
    EXPECT_EQ(TypeParam(value).bits, 0);
    EXPECT_EQ(TypeParam(-value).bits, 0x8000);
    EXPECT_EQ(TypeParam(static_cast<float>(-value)).bits, 0x8000);
  }
  EXPECT_EQ(TypeParam(limits::signaling_NaN()).bits, 0x7fff);
  EXPECT_EQ(TypeParam(-limits::quiet_NaN()).bits, 0x7fff);
  EXPECT_EQ(TypeParam(std::numeric_limits<float>::signaling_NaN()).bits, 0x7fff);
  EXPECT_EQ(TypeParam(-std::numeric_limits<float>::quiet_NaN()).bits, 0x7fff);
  std::uint32_t const smallest_payload = 0xff800001;  // its upper half alone would read as infinity
  float single;
  std::memcpy(&single, &smallest_payload, sizeof single);
  EXPECT_EQ(TypeParam(single).bits, 0x7fff);
}

TYPED_TEST(half_test, integers_round_once) {
  for (int value : {0, 1, -1, 255, 256, 257, 2047, 2049, 2051, -65519, 65519, 65520, 16777217, 2147483647}) {
    EXPECT_EQ(TypeParam(value).bits, nearest<TypeParam>(value)) << value;
  }
}

TYPED_TEST(half_test, loops_over_arrays_give_the_same_bits) {
  // Such loops are vectorised: not the code that converts a single value.
  auto const seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  std::vector<float> values(100003), back(values.size());
  for (float& value : values) {
    std::uint32_t const bits = random();
    std::memcpy(&value, &bits, sizeof value);
    if (bits % 2 == 0)
      value = std::ldexp(1.0f + static_cast<float>(bits) * 0x1p-32f, static_cast<int>(bits / 2 % 45) - 28);
  }
  std::vector<TypeParam> converted(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) converted[i] = TypeParam(values[i]);
  for (std::size_t i = 0; i < values.size(); ++i) back[i] = static_cast<float>(converted[i]);
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(converted[i].bits, nearest<TypeParam>(static_cast<double>(values[i]))) << values[i];
    ASSERT_EQ(std::isnan(back[i]), std::isnan(values[i]));
    ASSERT_EQ(TypeParam(back[i]).bits, converted[i].bits);
  }
}

#if defined(__FLT16_MAX__)
TEST(half, agrees_with_the_compiler) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  auto const bits_of = [](_Float16 value) {
    std::uint16_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
  };
  auto const check = [&](auto value) {
    if (std::isnan(value)) return;
    ASSERT_EQ(half(value).bits, bits_of(static_cast<_Float16>(value))) << value;
  };
  for (std::uint64_t pattern = random() % 1009; pattern < (std::uint64_t{1} << 32); pattern += 1009) {
    auto const bits = static_cast<std::uint32_t>(pattern);
    float single;
    std::memcpy(&single, &bits, sizeof single);
    check(single);
    if (HasFatalFailure()) return;
  }
  for (int n = 0; n < 1000000; ++n) {
    check(std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 45) - 28 - 63));
    if (HasFatalFailure()) return;
  }
}
#endif

/// In double: the last kept bit of a float is 2^-10 of its leading one, or 2^-136 where that is subnormal.
double nearest_tf32(double value) {
  double const unit = std::ldexp(1.0, std::max(std::ilogb(value), -126) - 10);
  return std::nearbyint(value / unit) * unit;
}

TEST(round_to_tf32, is_nearest_even) {
  auto const seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int n = 0; n < 1000000; ++n) {
    std::uint32_t bits = random();
    if (n % 4 == 0) bits = (bits & ~0x1fffu) | 0x1000u;  // a midpoint
    float value;
    std::memcpy(&value, &bits, sizeof value);
    float const rounded = rnnopt::round_to_tf32(value);
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(rounded));
    } else if (std::isinf(value) || value == 0.0f) {
      ASSERT_EQ(rounded, value);
    } else {
      ASSERT_EQ(rounded, static_cast<float>(nearest_tf32(static_cast<double>(value)))) << value;
      ASSERT_EQ(std::signbit(rounded), std::signbit(value));
    }
  }
}

TEST(round_to_tf32, keeps_every_half_and_bfloat16) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    for (float value : {static_cast<float>(from_bits<half>(bits)), static_cast<float>(from_bits<bfloat16>(bits))}) {
      if (std::isnan(value)) {
        ASSERT_TRUE(std::isnan(rnnopt::round_to_tf32(value)));
      } else {
        ASSERT_EQ(rnnopt::round_to_tf32(value), value);
      }
    }
  }
}

}  // namespace

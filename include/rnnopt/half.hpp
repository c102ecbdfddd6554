#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "rnnopt/config.hpp"

/// The two 16-bit storage types, and TF32 rounding, with the same bits on the host and on the device.
///
/// Every conversion rounds once, to nearest even, whatever the source type; it keeps subnormals, overflows to infinity
/// and turns any NaN into 0x7fff, which is what cvt.rn.f16.f32 and cvt.rn.bf16.f32 of sm_80 and later do. The host side
/// is written with selections instead of branches so that a loop over it vectorises, and from and to float without
/// arithmetic on subnormals so that a caller who flushes them to zero gets the same bits.

namespace rnnopt {
namespace detail {

RNNOPT_HD inline std::uint32_t float_bits(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

RNNOPT_HD inline float float_from_bits(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// `yes` if a < b, else `no`, for a and b below 2^31. With a mask from the sign of the difference, because g++ turns
/// any comparison back into a branch around a floating-point operation that only one side needs, and then no longer
/// vectorises the loop.
RNNOPT_HD inline std::uint32_t select_below(std::uint32_t a, std::uint32_t b, std::uint32_t yes, std::uint32_t no) {
  std::uint32_t const mask = 0u - ((a - b) >> 31);
  return (yes & mask) | (no & ~mask);
}

RNNOPT_HD inline std::uint16_t half_bits(float value) {
#if defined(__CUDA_ARCH__)
  std::uint16_t bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
#else
  std::uint32_t const bits = float_bits(value);
  std::uint32_t const magnitude = bits & 0x7fffffffu;
  // Normal results: move the exponent bias from 127 to 15 and round the lower 13 bits away; a carry out of the
  // mantissa raises the exponent, as it should. Everything from 65520 up is at or above the pattern of infinity.
  std::uint32_t const biased = magnitude - (112u << 23);
  std::uint32_t const rounded = (biased + 0xfffu + ((biased >> 13) & 1u)) >> 13;
  std::uint32_t const normal = select_below(magnitude, 0x477ff000u, rounded, 0x7c00u);
  // Results below 2^-14 count units of 2^-24, which is one ulp of 0.5: let the adder round, then read the mantissa.
  std::uint32_t const subnormal = float_bits(float_from_bits(magnitude) + 0.5f) - 0x3f000000u;
  std::uint32_t const finite = select_below(magnitude, 0x38800000u, subnormal, normal);
  std::uint32_t const number = finite | ((bits >> 16) & 0x8000u);
  return static_cast<std::uint16_t>(select_below(0x7f800000u, magnitude, 0x7fffu, number));
#endif
}

RNNOPT_HD inline float half_value(std::uint16_t bits) {
#if defined(__CUDA_ARCH__)
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
#else
  std::uint32_t const magnitude = (bits & 0x7fffu) << 13;
  std::uint32_t const special = magnitude >= 0x0f800000u ? 112u << 23 : 0u;  // infinity and NaN: exponent 31 to 255
  std::uint32_t const normal = magnitude + (112u << 23) + special;
  // A subnormal is m * 2^-24 = 2^-14 * (1 + m / 1024) - 2^-14, exactly.
  std::uint32_t const subnormal = float_bits(float_from_bits(magnitude + (113u << 23)) - float_from_bits(113u << 23));
  std::uint32_t const sign = (bits & 0x8000u) << 16;
  return float_from_bits(select_below(magnitude, 0x00800000u, subnormal, normal) | sign);
#endif
}

RNNOPT_HD inline std::uint16_t bfloat16_bits(float value) {
#if defined(__CUDA_ARCH__)
  std::uint16_t bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
#else
  std::uint32_t const bits = float_bits(value);
  std::uint32_t const rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  return static_cast<std::uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : rounded);
#endif
}

RNNOPT_HD inline float bfloat16_value(std::uint16_t bits) {
  return float_from_bits(static_cast<std::uint32_t>(bits) << 16);
}

/// The float next to `value` towards zero, with its last bit set if anything was lost ("round to odd"). Rounding that
/// float to a type at least two bits narrower gives what one rounding of the double gives: the set bit keeps every
/// value that is not on a midpoint off it (Boldo and Melquiond, Emulation of FMA and correctly rounded sums, 2008).
RNNOPT_HD inline float round_to_odd(double value) {
  float const nearest = static_cast<float>(value);
  double const back = static_cast<double>(nearest);
  std::uint32_t const outward = std::fabs(back) > std::fabs(value);  // then the pattern is one too high
  std::uint32_t const inexact = back != value;                       // true of a NaN, which stays one
  return float_from_bits((float_bits(nearest) - outward) | inexact);
}

}  // namespace detail

/// @brief IEEE binary16: 1 sign, 5 exponent and 10 mantissa bits.
struct alignas(2) half {
  std::uint16_t bits;  ///< the pattern, sign in the top bit

  half() = default;
  /// @brief Rounds once to nearest even; NaN becomes 0x7fff.
  RNNOPT_HD explicit half(float value) : bits(detail::half_bits(value)) {}
  /// @brief Rounds once to nearest even, not by way of a rounded float; NaN becomes 0x7fff.
  RNNOPT_HD explicit half(double value) : bits(detail::half_bits(detail::round_to_odd(value))) {}
  /// @brief Rounds once to nearest even.
  RNNOPT_HD explicit half(int value) : half(static_cast<double>(value)) {}

  /// @brief The same value, exactly.
  RNNOPT_HD explicit operator float() const { return detail::half_value(bits); }
  /// @brief The same value, exactly.
  RNNOPT_HD explicit operator double() const { return static_cast<double>(detail::half_value(bits)); }
};

/// @brief bfloat16: the upper half of a float, 1 sign, 8 exponent and 7 mantissa bits.
struct alignas(2) bfloat16 {
  std::uint16_t bits;  ///< the pattern, sign in the top bit

  bfloat16() = default;
  /// @brief Rounds once to nearest even; NaN becomes 0x7fff.
  RNNOPT_HD explicit bfloat16(float value) : bits(detail::bfloat16_bits(value)) {}
  /// @brief Rounds once to nearest even, not by way of a rounded float; NaN becomes 0x7fff.
  RNNOPT_HD explicit bfloat16(double value) : bits(detail::bfloat16_bits(detail::round_to_odd(value))) {}
  /// @brief Rounds once to nearest even.
  RNNOPT_HD explicit bfloat16(int value) : bfloat16(static_cast<double>(value)) {}

  /// @brief The same value, exactly.
  RNNOPT_HD explicit operator float() const { return detail::bfloat16_value(bits); }
  /// @brief The same value, exactly.
  RNNOPT_HD explicit operator double() const { return static_cast<double>(detail::bfloat16_value(bits)); }
};

namespace detail {

template <class T>
constexpr bool is_plain_16_bit() {
  return sizeof(T) == 2 && alignof(T) == 2 && std::is_trivially_copyable_v<T> &&
         std::is_trivially_default_constructible_v<T> && std::is_standard_layout_v<T>;
}

static_assert(is_plain_16_bit<half>(), "rnnopt: arrays of half go to the device as they are");
static_assert(is_plain_16_bit<bfloat16>(), "rnnopt: arrays of bfloat16 go to the device as they are");

}  // namespace detail

namespace detail {

/// Rounds, except that a finite number becomes the largest finite one rather than infinity. Pre-activations are saved
/// so: gates are as good as constant there, while infinity would make 0 * infinity of a gradient.
template <class Storage, class T>
RNNOPT_HD Storage saturate(T value) {
  if constexpr (std::is_same_v<Storage, half> || std::is_same_v<Storage, bfloat16>) {
    T const largest = std::is_same_v<Storage, half> ? T(65504) : T(3.3895313892515355e38);
    T const size = value < T(0) ? -value : value;
    T const clamped = value > largest ? largest : value < -largest ? -largest : value;
    if (size <= T(sizeof(T) == 4 ? 3.4028234663852886e38 : 1.7976931348623157e308)) value = clamped;  // finite
  }
  return static_cast<Storage>(value);
}

}  // namespace detail

/// @brief Rounds to the 10 explicit mantissa bits of TF32, to nearest even; infinity and NaN stay as they are.
RNNOPT_HD inline float round_to_tf32(float value) {
  std::uint32_t const bits = detail::float_bits(value);
  std::uint32_t const rounded = (bits + 0xfffu + ((bits >> 13) & 1u)) & ~0x1fffu;
  return detail::float_from_bits((bits & 0x7f800000u) == 0x7f800000u ? bits : rounded);
}

}  // namespace rnnopt

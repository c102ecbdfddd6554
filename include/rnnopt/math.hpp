#pragma once

#include <cmath>
#include <type_traits>

#include "rnnopt/autodiff.hpp"
#include "rnnopt/config.hpp"

/// The functions a cell's step may call, on the numbers it is given. NaN propagates through every one of them.
///
/// Whatever depends on a comparison goes through a function that a number type can overload (pick, relu_of, ...), so
/// that a type whose comparisons have no answer yet (traced.hpp) can stand for the numbers.

namespace rnnopt {

namespace detail {

// One definition per function on plain numbers; the names differ from the public ones so that lookup is never in doubt.
RNNOPT_HD inline float exp_of(float x) { return ::expf(x); }
RNNOPT_HD inline double exp_of(double x) { return ::exp(x); }
RNNOPT_HD inline float log_of(float x) { return ::logf(x); }
RNNOPT_HD inline double log_of(double x) { return ::log(x); }
RNNOPT_HD inline float log1p_of(float x) { return ::log1pf(x); }
RNNOPT_HD inline double log1p_of(double x) { return ::log1p(x); }
RNNOPT_HD inline float sqrt_of(float x) { return ::sqrtf(x); }
RNNOPT_HD inline double sqrt_of(double x) { return ::sqrt(x); }
RNNOPT_HD inline float tanh_of(float x) { return ::tanhf(x); }
RNNOPT_HD inline double tanh_of(double x) { return ::tanh(x); }

/// 1 / x, on the device within 2 units in the last place, and 0 for x from 2^126 on: the exact quotient is a call
/// there.
template <class T>
RNNOPT_HD T reciprocal_of(T x) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<T, float>) return ::__fdividef(1.0f, x);
#endif
  return T(1) / x;
}
/// On the device e^-x of floats is one instruction: its relative error is below (2 + |x|) 2^-23, which 1 + e^-x takes
/// over where x is negative.
template <class T>
RNNOPT_HD T sigmoid_of(T x) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<T, float>) {
    float power, result;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(-1.4426950408889634f * x));
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(1.0f + power));
    return result;
  }
#endif
  return reciprocal_of(T(1) + exp_of(-x));
}
template <class T>
RNNOPT_HD T softplus_of(T x) {
  // log(1 + e^x) without overflow: max(x, 0) + log1p(e^-|x|).
  return (x < T(0) ? T(0) : x) + log1p_of(exp_of(x < T(0) ? x : -x));
}
template <class T>
RNNOPT_HD T relu_of(T x) {
  return x <= T(0) ? T(0) : x;  // so that NaN comes through
}
template <class T>
RNNOPT_HD T abs_of(T x) {
  return x < T(0) ? -x : x;
}
template <class T>
RNNOPT_HD T pick(bool condition, T const& a, T const& b) {
  return condition ? a : b;
}
/// Whether max and min take their first argument, which they do if it is NaN.
template <class T>
RNNOPT_HD bool first_is_max(T const& a, T const& b) {
  bool const a_is_nan = !(a >= a);
  return a_is_nan || a >= b;
}
template <class T>
RNNOPT_HD bool first_is_min(T const& a, T const& b) {
  bool const a_is_nan = !(a >= a);
  return a_is_nan || a <= b;
}

// Nested duals: the same functions on the inner dual.
template <class T, unsigned M>
RNNOPT_HD dual<T, M> exp_of(dual<T, M> const& x) {
  T const value = exp_of(x.value);
  return chain<T>(value, value, x);
}
template <class T, unsigned M>
RNNOPT_HD dual<T, M> log_of(dual<T, M> const& x) {
  return chain<T>(log_of(x.value), T(1) / x.value, x);
}
template <class T, unsigned M>
RNNOPT_HD dual<T, M> log1p_of(dual<T, M> const& x) {
  return chain<T>(log1p_of(x.value), T(1) / (T(1) + x.value), x);
}
template <class T, unsigned M>
RNNOPT_HD dual<T, M> sqrt_of(dual<T, M> const& x) {
  T const value = sqrt_of(x.value);
  return chain<T>(value, T(0.5) / value, x);
}
template <class T, unsigned M>
RNNOPT_HD dual<T, M> tanh_of(dual<T, M> const& x) {
  T const value = tanh_of(x.value);
  return chain<T>(value, T(1) - value * value, x);
}
template <class T, unsigned M>
RNNOPT_HD dual<T, M> sigmoid_of(dual<T, M> const& x) {
  T const value = sigmoid_of(x.value);
  return chain<T>(value, value * (T(1) - value), x);
}
template <class T, unsigned M>
RNNOPT_HD dual<T, M> softplus_of(dual<T, M> const& x) {
  return chain<T>(softplus_of(x.value), sigmoid_of(x.value), x);
}
template <class T, unsigned M>
RNNOPT_HD dual<T, M> relu_of(dual<T, M> const& x) {
  return chain<T>(relu_of(x.value), pick(x.value <= T(0), T(0), T(1)), x);
}
template <class T, unsigned M>
RNNOPT_HD dual<T, M> abs_of(dual<T, M> const& x) {
  return chain<T>(abs_of(x.value), pick(x.value < T(0), T(-1), T(1)), x);
}

template <class T, class A>
RNNOPT_HD dual<T> as_dual(A const& a) {
  return constant<T>(a);
}
template <class T, unsigned M>
RNNOPT_HD dual<T, M> as_dual(dual<T, M> const& a) {
  return a;
}

template <class A, class B>
struct dual_value;
template <class T, unsigned M, class B>
struct dual_value<dual<T, M>, B> {
  using type = T;
};
template <class A, class T, unsigned M>
struct dual_value<A, dual<T, M>> {
  using type = T;
};
template <class T, unsigned M, unsigned N>
struct dual_value<dual<T, M>, dual<T, N>> {
  using type = T;
};

}  // namespace detail

/// @brief e^x
template <class T, unsigned M>
RNNOPT_HD auto exp(dual<T, M> const& x) {
  return detail::exp_of(x);
}
/// @brief Natural logarithm.
template <class T, unsigned M>
RNNOPT_HD auto log(dual<T, M> const& x) {
  return detail::log_of(x);
}
/// @brief Square root; the derivative at 0 is infinite.
template <class T, unsigned M>
RNNOPT_HD auto sqrt(dual<T, M> const& x) {
  return detail::sqrt_of(x);
}
/// @brief Hyperbolic tangent.
template <class T, unsigned M>
RNNOPT_HD auto tanh(dual<T, M> const& x) {
  return detail::tanh_of(x);
}
/// @brief Logistic function, 1 / (1 + e^-x).
template <class T, unsigned M>
RNNOPT_HD auto sigmoid(dual<T, M> const& x) {
  return detail::sigmoid_of(x);
}
/// @brief log(1 + e^x), without overflow.
template <class T, unsigned M>
RNNOPT_HD auto softplus(dual<T, M> const& x) {
  return detail::softplus_of(x);
}

namespace detail {
/// Partial derivatives are picked, not scaled by 0 or 1: what the other branch holds, NaN included, cannot leak.
template <int Index, class Condition, class T, unsigned A, unsigned B>
RNNOPT_HD void select_bits(dual<T, (A | B)>& result, Condition const& condition, dual<T, A> const& a,
                           dual<T, B> const& b) {
  if constexpr (((A | B) >> Index) != 0) {
    if constexpr ((((A | B) >> Index) & 1U) != 0)
      result.values[bit_rank(A | B, Index)] = pick(condition, a.template partial<Index>(), b.template partial<Index>());
    if constexpr (Index < 31) select_bits<Index + 1>(result, condition, a, b);
  }
}
template <class Condition, class T, unsigned A, unsigned B>
RNNOPT_HD dual<T, (A | B)> select_dual(Condition const& condition, dual<T, A> const& a, dual<T, B> const& b) {
  dual<T, (A | B)> result(pick(condition, a.value, b.value));
  select_bits<0>(result, condition, a, b);
  return result;
}
template <class T, unsigned A, unsigned B>
RNNOPT_HD auto max_of(dual<T, A> const& a, dual<T, B> const& b) {
  return select_dual(first_is_max(a.value, b.value), a, b);
}
template <class T, unsigned A, unsigned B>
RNNOPT_HD auto min_of(dual<T, A> const& a, dual<T, B> const& b) {
  return select_dual(first_is_min(a.value, b.value), a, b);
}

/// Whether a type other than bool is the result of a comparison.
template <class T>
struct is_condition : std::false_type {};
template <class T>
using if_condition = std::enable_if_t<is_condition<T>::value, int>;
}  // namespace detail

/// @brief `condition ? a : b`, where the branches may depend on different inputs or be constants.
template <class A, class B, class T = typename detail::dual_value<A, B>::type>
RNNOPT_HD auto select(bool condition, A const& a, B const& b) {
  return detail::select_dual(condition, detail::as_dual<T>(a), detail::as_dual<T>(b));
}
/// @brief The same for numbers whose comparisons do not give bool.
template <class Condition, class A, class B, class T = typename detail::dual_value<A, B>::type,
          detail::if_condition<Condition> = 0>
RNNOPT_HD auto select(Condition const& condition, A const& a, B const& b) {
  return detail::select_dual(condition, detail::as_dual<T>(a), detail::as_dual<T>(b));
}
/// @brief max(x, 0); the derivative at 0 is 0.
template <class T, unsigned M>
RNNOPT_HD auto relu(dual<T, M> const& x) {
  return detail::relu_of(x);
}
/// @brief |x|; the derivative at 0 is 1.
template <class T, unsigned M>
RNNOPT_HD auto abs(dual<T, M> const& x) {
  return detail::abs_of(x);
}
/// @brief The larger of two; at equality the derivative follows `a`. (Parenthesised against function-like macros.)
template <class A, class B, class T = typename detail::dual_value<A, B>::type>
RNNOPT_HD auto(max)(A const& a, B const& b) {
  return detail::max_of(detail::as_dual<T>(a), detail::as_dual<T>(b));
}
/// @brief The same for two of one type: more specialised than std::max, which a using-directive could bring in.
template <class T, unsigned M>
RNNOPT_HD auto(max)(dual<T, M> const& a, dual<T, M> const& b) {
  return detail::max_of(a, b);
}
/// @brief The smaller of two; at equality the derivative follows `a`.
template <class A, class B, class T = typename detail::dual_value<A, B>::type>
RNNOPT_HD auto(min)(A const& a, B const& b) {
  return detail::min_of(detail::as_dual<T>(a), detail::as_dual<T>(b));
}
/// @brief The same for two of one type: more specialised than std::min.
template <class T, unsigned M>
RNNOPT_HD auto(min)(dual<T, M> const& a, dual<T, M> const& b) {
  return detail::min_of(a, b);
}

}  // namespace rnnopt

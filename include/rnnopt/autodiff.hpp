#pragma once

#include <cmath>
#include <type_traits>

#include "rnnopt/config.hpp"

/// Forward-mode automatic differentiation whose dependencies are part of the type.
///
/// `dual<T, Mask>` is a value together with its partial derivatives with respect to the inputs whose bit is set in
/// Mask. An operation's result depends on the union of its operands' inputs, so only partial derivatives that can be
/// non-zero exist, and all bookkeeping is done by the compiler. `dual<T>` (no bits) is a plain number whose constants
/// stay in T: `0.5 * x` with a float x is a float product. Duals nest: with T itself a dual, second derivatives follow.

namespace rnnopt {

namespace detail {

RNNOPT_HD constexpr int bit_count(unsigned mask) {
  return mask == 0 ? 0 : static_cast<int>(mask & 1U) + bit_count(mask >> 1U);
}

/// Position of input `index` among the partial derivatives that exist.
RNNOPT_HD constexpr int bit_rank(unsigned mask, int index) { return bit_count(mask & ((1U << index) - 1U)); }

template <class T, int Count>
struct partials {
  T values[Count];
};
template <class T>
struct partials<T, 0> {};

}  // namespace detail

/// @brief A value of type `T` with its derivatives with respect to the inputs in `Mask`.
template <class T, unsigned Mask = 0>
struct dual : detail::partials<T, detail::bit_count(Mask)> {
  using value_type = T;
  static constexpr unsigned mask = Mask;

  T value;

  dual() = default;
  /// @brief A constant: its derivatives, if its type has any, are zero.
  RNNOPT_HD explicit dual(T const& v) : value(v) {
    if constexpr (Mask != 0)
      for (T& derivative : this->values) derivative = T(0);
  }

  /// @brief Whether the value can depend on input `Index`.
  template <int Index>
  static constexpr bool depends_on = ((Mask >> Index) & 1U) != 0;

  /// @brief Derivative with respect to input `Index`; zero where it cannot depend on it.
  template <int Index>
  RNNOPT_HD T partial() const {
    if constexpr (depends_on<Index>) return this->values[detail::bit_rank(Mask, Index)];
    else return T(0);
  }
};

namespace detail {

template <class T>
struct is_dual : std::false_type {};
template <class T, unsigned Mask>
struct is_dual<dual<T, Mask>> : std::true_type {};

template <class A>
using if_arithmetic = std::enable_if_t<std::is_arithmetic_v<A>, int>;

/// The value `value` whose derivative is slope * d(a).
template <class T, unsigned Mask>
RNNOPT_HD dual<T, Mask> chain(T const& value, T const& slope, dual<T, Mask> const& a) {
  dual<T, Mask> result(value);
  if constexpr (Mask != 0)
    for (int i = 0; i < bit_count(Mask); ++i) result.values[i] = slope * a.values[i];
  return result;
}

/// The value `value` whose derivative is slope_a * d(a) + slope_b * d(b). Recursion over the bits keeps it all
/// unrolled.
template <int Index, class T, unsigned MaskA, unsigned MaskB>
RNNOPT_HD void chain_bits(dual<T, (MaskA | MaskB)>& result, T const& slope_a, dual<T, MaskA> const& a, T const& slope_b,
                          dual<T, MaskB> const& b) {
  if constexpr (((MaskA | MaskB) >> Index) != 0) {
    constexpr unsigned bit = 1U << Index;
    if constexpr ((MaskA & MaskB & bit) != 0)
      result.values[bit_rank(MaskA | MaskB, Index)] =
          slope_a * a.template partial<Index>() + slope_b * b.template partial<Index>();
    else if constexpr ((MaskA & bit) != 0)
      result.values[bit_rank(MaskA | MaskB, Index)] = slope_a * a.template partial<Index>();
    else if constexpr ((MaskB & bit) != 0)
      result.values[bit_rank(MaskA | MaskB, Index)] = slope_b * b.template partial<Index>();
    if constexpr (Index < 31) chain_bits<Index + 1>(result, slope_a, a, slope_b, b);
  }
}

template <class T, unsigned MaskA, unsigned MaskB>
RNNOPT_HD dual<T, (MaskA | MaskB)> chain(T const& value, T const& slope_a, dual<T, MaskA> const& a, T const& slope_b,
                                         dual<T, MaskB> const& b) {
  dual<T, (MaskA | MaskB)> result(value);
  chain_bits<0>(result, slope_a, a, slope_b, b);
  return result;
}

/// A constant as a dual of the same kind.
template <class T, class A>
RNNOPT_HD dual<T> constant(A a) {
  return dual<T>(static_cast<T>(a));
}

}  // namespace detail

// Arithmetic. Constants of any arithmetic type mix freely and are converted to T first.

template <class T, unsigned A, unsigned B>
RNNOPT_HD auto operator+(dual<T, A> const& a, dual<T, B> const& b) {
  return detail::chain<T>(a.value + b.value, T(1), a, T(1), b);
}
template <class T, unsigned A, unsigned B>
RNNOPT_HD auto operator-(dual<T, A> const& a, dual<T, B> const& b) {
  return detail::chain<T>(a.value - b.value, T(1), a, T(-1), b);
}
template <class T, unsigned A, unsigned B>
RNNOPT_HD auto operator*(dual<T, A> const& a, dual<T, B> const& b) {
  return detail::chain<T>(a.value * b.value, b.value, a, a.value, b);
}
template <class T, unsigned A, unsigned B>
RNNOPT_HD auto operator/(dual<T, A> const& a, dual<T, B> const& b) {
  T const quotient = a.value / b.value;
  if constexpr (B == 0) return detail::chain<T>(quotient, T(1) / b.value, a);
  else return detail::chain<T>(quotient, T(1) / b.value, a, -quotient / b.value, b);
}
template <class T, unsigned A>
RNNOPT_HD auto operator-(dual<T, A> const& a) {
  return detail::chain<T>(-a.value, T(-1), a);
}
template <class T, unsigned A>
RNNOPT_HD auto operator+(dual<T, A> const& a) {
  return a;
}
template <class T, unsigned A, class C, detail::if_arithmetic<C> = 0>
RNNOPT_HD auto operator+(dual<T, A> const& a, C c) {
  return a + detail::constant<T>(c);
}
template <class T, unsigned A, class C, detail::if_arithmetic<C> = 0>
RNNOPT_HD auto operator+(C c, dual<T, A> const& a) {
  return detail::constant<T>(c) + a;
}
template <class T, unsigned A, class C, detail::if_arithmetic<C> = 0>
RNNOPT_HD auto operator-(dual<T, A> const& a, C c) {
  return a - detail::constant<T>(c);
}
template <class T, unsigned A, class C, detail::if_arithmetic<C> = 0>
RNNOPT_HD auto operator-(C c, dual<T, A> const& a) {
  return detail::constant<T>(c) - a;
}
template <class T, unsigned A, class C, detail::if_arithmetic<C> = 0>
RNNOPT_HD auto operator*(dual<T, A> const& a, C c) {
  return a * detail::constant<T>(c);
}
template <class T, unsigned A, class C, detail::if_arithmetic<C> = 0>
RNNOPT_HD auto operator*(C c, dual<T, A> const& a) {
  return detail::constant<T>(c) * a;
}
template <class T, unsigned A, class C, detail::if_arithmetic<C> = 0>
RNNOPT_HD auto operator/(dual<T, A> const& a, C c) {
  return a / detail::constant<T>(c);
}
template <class T, unsigned A, class C, detail::if_arithmetic<C> = 0>
RNNOPT_HD auto operator/(C c, dual<T, A> const& a) {
  return detail::constant<T>(c) / a;
}

// Comparisons look at values only. They give what comparing the values gives: bool for plain numbers.

namespace detail {
/// The number under a dual, or under duals of duals.
template <class T>
RNNOPT_HD T const& number_under(T const& a) {
  return a;
}
template <class T, unsigned M>
RNNOPT_HD auto number_under(dual<T, M> const& a) {
  return number_under(a.value);
}

/// What is compared of `a`: its number, or a constant in the type of the dual's, in which it is computed with, too.
template <class A, class B>
RNNOPT_HD auto comparable(A const& a, B const& b) {
  using number = std::decay_t<decltype(number_under(b))>;
  if constexpr (!is_dual<A>::value && std::is_arithmetic_v<number>) return static_cast<number>(a);
  else return number_under(a);
}
template <class A, class B>
using if_compares_dual = std::enable_if_t<(is_dual<A>::value && (is_dual<B>::value || std::is_arithmetic_v<B>)) ||
                                              (is_dual<B>::value && std::is_arithmetic_v<A>),
                                          int>;
}  // namespace detail

template <class A, class B, detail::if_compares_dual<A, B> = 0>
RNNOPT_HD auto operator<(A const& a, B const& b) {
  return detail::comparable(a, b) < detail::comparable(b, a);
}
template <class A, class B, detail::if_compares_dual<A, B> = 0>
RNNOPT_HD auto operator>(A const& a, B const& b) {
  return detail::comparable(a, b) > detail::comparable(b, a);
}
template <class A, class B, detail::if_compares_dual<A, B> = 0>
RNNOPT_HD auto operator<=(A const& a, B const& b) {
  return detail::comparable(a, b) <= detail::comparable(b, a);
}
template <class A, class B, detail::if_compares_dual<A, B> = 0>
RNNOPT_HD auto operator>=(A const& a, B const& b) {
  return detail::comparable(a, b) >= detail::comparable(b, a);
}

template <class A, class B, detail::if_compares_dual<A, B> = 0>
RNNOPT_HD auto operator==(A const& a, B const& b) {
  return detail::comparable(a, b) == detail::comparable(b, a);
}
template <class A, class B, detail::if_compares_dual<A, B> = 0>
RNNOPT_HD auto operator!=(A const& a, B const& b) {
  return !(a == b);
}

}  // namespace rnnopt

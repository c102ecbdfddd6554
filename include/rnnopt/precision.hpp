#pragma once

#include <type_traits>

#include "rnnopt/half.hpp"

namespace rnnopt {

/// @brief What the matrix units may do to the operands of a product.
enum class matrix_math {
  exact,  ///< operands enter as stored
  tf32    ///< float operands may be rounded to 10 mantissa bits
};

// The precision contract. A precision is an empty struct with
//   storage     element type of x, y, h, W, R, bias, unit parameters and their saved copies
//   accumulate  type of sums, of pre-activations before they are saved, of the cell's arithmetic, of weight gradients
//   state       type of the states other than h (c of an LSTM)
//   math        what the matrix units may do
// Rounding happens where a value is stored as `storage`: h, y, saved pre-activations, gate gradients, dx, dh0.

/// @brief Single precision throughout; TF32 is never used.
struct fp32 {
  using storage = float;
  using accumulate = float;
  using state = float;
  static constexpr matrix_math math = matrix_math::exact;
};

/// @brief Single precision storage; products may round their operands to TF32.
struct tf32 {
  using storage = float;
  using accumulate = float;
  using state = float;
  static constexpr matrix_math math = matrix_math::tf32;
};

/// @brief IEEE half storage, float accumulation and states.
struct fp16 {
  using storage = half;
  using accumulate = float;
  using state = float;
  static constexpr matrix_math math = matrix_math::exact;
};

/// @brief bfloat16 storage, float accumulation and states.
struct bf16 {
  using storage = bfloat16;
  using accumulate = float;
  using state = float;
  static constexpr matrix_math math = matrix_math::exact;
};

/// @brief Double precision throughout.
struct fp64 {
  using storage = double;
  using accumulate = double;
  using state = double;
  static constexpr matrix_math math = matrix_math::exact;
};

namespace detail {

template <class Precision, class = void>
struct has_storage : std::false_type {};
template <class Precision>
struct has_storage<Precision, std::void_t<typename Precision::storage>> : std::true_type {};
template <class Precision, class = void>
struct has_accumulate : std::false_type {};
template <class Precision>
struct has_accumulate<Precision, std::void_t<typename Precision::accumulate>> : std::true_type {};
template <class Precision, class = void>
struct has_state : std::false_type {};
template <class Precision>
struct has_state<Precision, std::void_t<typename Precision::state>> : std::true_type {};
template <class Precision, class = void>
struct has_math : std::false_type {};
template <class Precision>
struct has_math<Precision, std::enable_if_t<std::is_same_v<std::decay_t<decltype(Precision::math)>, matrix_math>>>
    : std::true_type {};

/// Whether every requirement on a precision holds; the public classes turn each into one named static_assert.
template <class Precision>
struct precision_check {
  static constexpr bool empty = std::is_empty_v<Precision>;
  static constexpr bool storage = has_storage<Precision>::value;
  static constexpr bool accumulate = has_accumulate<Precision>::value;
  static constexpr bool state = has_state<Precision>::value;
  static constexpr bool math = has_math<Precision>::value;

  static constexpr bool accumulate_is_floating() {
    if constexpr (accumulate)
      return std::is_same_v<typename Precision::accumulate, float> ||
             std::is_same_v<typename Precision::accumulate, double>;
    else return true;
  }
  static constexpr bool storage_converts() {
    if constexpr (accumulate && storage)
      return std::is_constructible_v<typename Precision::accumulate, typename Precision::storage> &&
             std::is_constructible_v<typename Precision::storage, typename Precision::accumulate>;
    else return true;
  }
  static constexpr bool state_converts() {
    if constexpr (accumulate && state)
      return std::is_constructible_v<typename Precision::accumulate, typename Precision::state> &&
             std::is_constructible_v<typename Precision::state, typename Precision::accumulate>;
    else return true;
  }
  static constexpr bool value = empty && storage && accumulate && state && math && accumulate_is_floating() &&
                                storage_converts() && state_converts();
};

/// One named message per requirement.
template <class Precision>
struct require_precision {
  using check = precision_check<Precision>;
  static_assert(check::empty, "rnnopt: the precision has data members; write an empty struct, all of it static");
  static_assert(check::storage, "rnnopt: the precision names no storage type; write using storage = float");
  static_assert(check::accumulate, "rnnopt: the precision names no accumulate type; write using accumulate = float");
  static_assert(check::state, "rnnopt: the precision names no state type; write using state = float");
  static_assert(check::math,
                "rnnopt: the precision does not say what the matrix units may do; write static constexpr "
                "rnnopt::matrix_math math = rnnopt::matrix_math::exact");
  static_assert(check::accumulate_is_floating(),
                "rnnopt: the accumulate type is not float or double; write using accumulate = float");
  static_assert(
      check::storage_converts(),
      "rnnopt: storage and accumulate do not convert into each other; write both conversions, explicit or not");
  static_assert(check::state_converts(),
                "rnnopt: state and accumulate do not convert into each other; write both conversions, explicit or not");
  static constexpr bool value = check::value;
};

}  // namespace detail
}  // namespace rnnopt

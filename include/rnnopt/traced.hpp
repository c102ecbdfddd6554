#pragma once

#include <cmath>
#include <type_traits>
#include <utility>
#include <vector>

#include "rnnopt/autodiff.hpp"
#include "rnnopt/math.hpp"

/// A number type that does not compute but writes down what would be computed: evaluating a cell with it gives the list
/// of the cell's elementary operations. Host only; the functions are marked RNNOPT_HD because dual's, which call them,
/// are.

namespace rnnopt::detail {

/// What one elementwise kernel computes. Conditions are the numbers 1 and 0.
enum class arithmetic {
  copy,
  negate,
  exp,
  log,
  sqrt,
  tanh,
  sigmoid,
  softplus,
  relu,
  absolute,
  logical_not,
  add,  // from here on of two operands
  subtract,
  multiply,
  divide,
  less,
  less_equal,
  equal,
  first_is_max,
  first_is_min,
  logical_and,
  logical_or,
  select  // of a condition and two numbers
};
inline constexpr int arithmetic_count = static_cast<int>(arithmetic::select) + 1;

RNNOPT_HD constexpr int operand_count(arithmetic kind) {
  return kind == arithmetic::select ? 3 : kind >= arithmetic::add ? 2 : 1;
}

/// The result of an operation; operands that it does not have are ignored.
template <arithmetic Kind, class T>
RNNOPT_HD T apply(T a, T b, T c) {
  if constexpr (Kind == arithmetic::copy) return a;
  if constexpr (Kind == arithmetic::negate) return -a;
  if constexpr (Kind == arithmetic::exp) return exp_of(a);
  if constexpr (Kind == arithmetic::log) return log_of(a);
  if constexpr (Kind == arithmetic::sqrt) return sqrt_of(a);
  if constexpr (Kind == arithmetic::tanh) return tanh_of(a);
  if constexpr (Kind == arithmetic::sigmoid) return sigmoid_of(a);
  if constexpr (Kind == arithmetic::softplus) return softplus_of(a);
  if constexpr (Kind == arithmetic::relu) return relu_of(a);
  if constexpr (Kind == arithmetic::absolute) return abs_of(a);
  if constexpr (Kind == arithmetic::logical_not) return T(a == T(0));
  if constexpr (Kind == arithmetic::add) return a + b;
  if constexpr (Kind == arithmetic::subtract) return a - b;
  if constexpr (Kind == arithmetic::multiply) return a * b;
  if constexpr (Kind == arithmetic::divide) return a / b;
  if constexpr (Kind == arithmetic::less) return T(a < b);
  if constexpr (Kind == arithmetic::less_equal) return T(a <= b);
  if constexpr (Kind == arithmetic::equal) return T(a == b);
  if constexpr (Kind == arithmetic::first_is_max) return T(first_is_max(a, b));
  if constexpr (Kind == arithmetic::first_is_min) return T(first_is_min(a, b));
  if constexpr (Kind == arithmetic::logical_and) return T(a != T(0) && b != T(0));
  if constexpr (Kind == arithmetic::logical_or) return T(a != T(0) || b != T(0));
  if constexpr (Kind == arithmetic::select) return pick(a != T(0), b, c);
}

/// function(std::integral_constant<arithmetic, kind>); for_each_index would call only what the device may call.
template <class Function, int... Kinds>
void with_operation(arithmetic kind, Function&& function, std::integer_sequence<int, Kinds...>) {
  auto const try_one = [&](auto known) {
    if (kind == known.value) function(known);
  };
  (try_one(std::integral_constant<arithmetic, static_cast<arithmetic>(Kinds)>{}), ...);
}
template <class Function>
void with_operation(arithmetic kind, Function&& function) {
  with_operation(kind, function, std::make_integer_sequence<int, arithmetic_count>{});
}

/// The kinds of values that an operation reads and writes.
enum class quantity {
  constant,            ///< the value itself
  slot,                ///< intermediate value, [batch, hidden]
  input_product,       ///< row block `index` of W x
  recurrent_product,   ///< row block `index` of R h
  bias,                ///< of gate `index`
  unit,                ///< unit parameter
  preactivation,       ///< of gate `index`
  state,               ///< before the step
  next_state,          ///< after the step
  recurrent_gradient,  ///< gradient of h that came back through R
  output_gradient,     ///< dy
  gate_gradient,       ///< of gate `index`
  state_gradient,      ///< read: of the state after the step; written: of that before
  unit_gradient        ///< of unit parameter `index`; read: the sum so far
};

/// Where a value comes from or goes to.
struct place {
  quantity what = quantity::constant;
  int index = 0;
  double value = 0;  ///< of a constant
};

class trace;

/// A number on a trace, or a constant, which is on none.
struct traced {
  trace* owner = nullptr;
  int node = -1;
  double value = 0;  ///< of a constant

  traced() = default;
  template <class A, if_arithmetic<A> = 0>
  RNNOPT_HD traced(A constant) : value(static_cast<double>(constant)) {}
  traced(trace* owner_of_it, int number) : owner(owner_of_it), node(number) {}

  bool is_constant() const { return owner == nullptr; }
  bool is(double constant) const { return is_constant() && value == constant; }
};

/// The operations recorded so far, each after its operands.
class trace {
 public:
  struct node {
    place source;                        ///< an input or a constant; a slot where an operation computes it
    arithmetic kind = arithmetic::copy;  ///< if it is computed
    int operands[3] = {-1, -1, -1};      ///< nodes
  };

  traced input(quantity what, int index) {
    return {this, find_or_append({{what, index, 0}, arithmetic::copy, {-1, -1, -1}})};
  }

  traced compute(arithmetic kind, traced a, traced b, traced c) {
    int const count = operand_count(kind);
    node n{{quantity::slot, 0, 0}, kind, {number_of(a), count > 1 ? number_of(b) : -1, count > 2 ? number_of(c) : -1}};
    bool const commutes = kind == arithmetic::add || kind == arithmetic::multiply;
    if (commutes && n.operands[0] > n.operands[1]) std::swap(n.operands[0], n.operands[1]);
    return {this, find_or_append(n)};
  }

  /// A copy that is a node of its own even if the same one exists.
  int append_copy(int of) {
    nodes_.push_back({{quantity::slot, 0, 0}, arithmetic::copy, {of, -1, -1}});
    return size() - 1;
  }

  int number_of(traced const& x) {
    return x.is_constant() ? find_or_append({{quantity::constant, 0, x.value}, arithmetic::copy, {-1, -1, -1}})
                           : x.node;
  }
  node const& operator[](int number) const { return nodes_[static_cast<std::size_t>(number)]; }
  int size() const { return static_cast<int>(nodes_.size()); }

 private:
  static bool same(node const& a, node const& b) {
    return a.source.what == b.source.what && a.source.index == b.source.index && a.source.value == b.source.value &&
           std::signbit(a.source.value) == std::signbit(b.source.value) && a.kind == b.kind &&
           a.operands[0] == b.operands[0] && a.operands[1] == b.operands[1] && a.operands[2] == b.operands[2];
  }
  /// The same operation on the same operands is recorded once.
  int find_or_append(node const& n) {
    for (int i = 0; i < size(); ++i)
      if (same((*this)[i], n)) return i;
    nodes_.push_back(n);
    return size() - 1;
  }

  std::vector<node> nodes_;
};

/// Records an operation unless its result is known without it: a constant, or one of the operands. 0 * x is recorded,
/// since x may be NaN.
inline traced record_on_host(arithmetic kind, traced const& a, traced const& b, traced const& c) {
  int const count = operand_count(kind);
  if (a.is_constant() && (count < 2 || b.is_constant()) && (count < 3 || c.is_constant())) {
    double result = 0;
    with_operation(kind, [&](auto known) { result = apply<known.value>(a.value, b.value, c.value); });
    return result;
  }
  trace& owner = *(a.owner != nullptr ? a.owner : b.owner != nullptr ? b.owner : c.owner);
  auto const negated = [&](traced const& x) { return owner.compute(arithmetic::negate, x, 0, 0); };
  switch (kind) {
    case arithmetic::add:
      if (a.is(0)) return b;
      if (b.is(0)) return a;
      break;
    case arithmetic::subtract:
      if (a.is(0)) return negated(b);
      if (b.is(0)) return a;
      break;
    case arithmetic::multiply:
      if (a.is(1)) return b;
      if (b.is(1)) return a;
      if (a.is(-1)) return negated(b);
      if (b.is(-1)) return negated(a);
      break;
    case arithmetic::divide:
      if (b.is(1)) return a;
      break;
    case arithmetic::logical_and:
      if (a.is_constant()) return a.is(0) ? a : b;
      if (b.is_constant()) return b.is(0) ? b : a;
      break;
    case arithmetic::logical_or:
      if (a.is_constant()) return a.is(0) ? b : a;
      if (b.is_constant()) return b.is(0) ? a : b;
      break;
    case arithmetic::select:
      if (a.is_constant()) return a.is(0) ? c : b;
      if (owner.number_of(b) == owner.number_of(c)) return b;
      break;
    default:
      break;
  }
  return owner.compute(kind, a, b, c);
}

RNNOPT_HD inline traced record(arithmetic kind, traced const& a, traced const& b = {}, traced const& c = {}) {
#if defined(__CUDA_ARCH__)
  return a;  // the device only compiles it
#else
  return record_on_host(kind, a, b, c);
#endif
}

RNNOPT_HD inline traced operator+(traced const& a, traced const& b) { return record(arithmetic::add, a, b); }
RNNOPT_HD inline traced operator-(traced const& a, traced const& b) { return record(arithmetic::subtract, a, b); }
RNNOPT_HD inline traced operator*(traced const& a, traced const& b) { return record(arithmetic::multiply, a, b); }
RNNOPT_HD inline traced operator/(traced const& a, traced const& b) { return record(arithmetic::divide, a, b); }
RNNOPT_HD inline traced operator-(traced const& a) { return record(arithmetic::negate, a); }

RNNOPT_HD inline traced exp_of(traced const& x) { return record(arithmetic::exp, x); }
RNNOPT_HD inline traced log_of(traced const& x) { return record(arithmetic::log, x); }
RNNOPT_HD inline traced sqrt_of(traced const& x) { return record(arithmetic::sqrt, x); }
RNNOPT_HD inline traced tanh_of(traced const& x) { return record(arithmetic::tanh, x); }
RNNOPT_HD inline traced sigmoid_of(traced const& x) { return record(arithmetic::sigmoid, x); }
RNNOPT_HD inline traced softplus_of(traced const& x) { return record(arithmetic::softplus, x); }
RNNOPT_HD inline traced relu_of(traced const& x) { return record(arithmetic::relu, x); }
RNNOPT_HD inline traced abs_of(traced const& x) { return record(arithmetic::absolute, x); }

/// The result of comparing traced numbers, for select. What it is shows only when the tape runs, so a cell that
/// branches on it cannot be recorded; overload resolution cannot find that out beforehand, since the branch is inside
/// step. The conversion that a branch asks for therefore exists, and says so.
struct traced_condition {
  traced value;

  template <class Asked, std::enable_if_t<std::is_same_v<Asked, bool>, int> = 0>
  RNNOPT_HD operator Asked() const {
    static_assert(!std::is_same_v<Asked, bool>,
                  "rnnopt: the cell branches on a number, which schedules::elementwise cannot record; write "
                  "select(condition, a, b)");
    return false;
  }
};

template <>
struct is_condition<traced_condition> : std::true_type {};

RNNOPT_HD inline traced_condition operator<(traced const& a, traced const& b) {
  return {record(arithmetic::less, a, b)};
}
RNNOPT_HD inline traced_condition operator<=(traced const& a, traced const& b) {
  return {record(arithmetic::less_equal, a, b)};
}
RNNOPT_HD inline traced_condition operator>(traced const& a, traced const& b) { return b < a; }
RNNOPT_HD inline traced_condition operator>=(traced const& a, traced const& b) { return b <= a; }
RNNOPT_HD inline traced_condition operator==(traced const& a, traced const& b) {
  return {record(arithmetic::equal, a, b)};
}
RNNOPT_HD inline traced_condition first_is_max(traced const& a, traced const& b) {
  return {record(arithmetic::first_is_max, a, b)};
}
RNNOPT_HD inline traced_condition first_is_min(traced const& a, traced const& b) {
  return {record(arithmetic::first_is_min, a, b)};
}
RNNOPT_HD inline traced pick(traced_condition const& condition, traced const& a, traced const& b) {
  return record(arithmetic::select, condition.value, a, b);
}

/// Two conditions, of which one may be known already.
template <class A, class B>
using if_traced_conditions = std::enable_if_t<(is_condition<A>::value && is_condition<B>::value) ||
                                                  (is_condition<A>::value && std::is_same_v<B, bool>) ||
                                                  (std::is_same_v<A, bool> && is_condition<B>::value),
                                              int>;
RNNOPT_HD inline traced one_or_zero(traced_condition const& condition) { return condition.value; }
RNNOPT_HD inline traced one_or_zero(bool condition) { return condition ? 1 : 0; }

RNNOPT_HD inline traced_condition operator!(traced_condition const& a) {
  return {record(arithmetic::logical_not, a.value)};
}
template <class A, class B, if_traced_conditions<A, B> = 0>
RNNOPT_HD traced_condition operator&&(A const& a, B const& b) {
  return {record(arithmetic::logical_and, one_or_zero(a), one_or_zero(b))};
}
template <class A, class B, if_traced_conditions<A, B> = 0>
RNNOPT_HD traced_condition operator||(A const& a, B const& b) {
  return {record(arithmetic::logical_or, one_or_zero(a), one_or_zero(b))};
}

}  // namespace rnnopt::detail

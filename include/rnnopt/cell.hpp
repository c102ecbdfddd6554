#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "rnnopt/autodiff.hpp"
#include "rnnopt/extents.hpp"
#include "rnnopt/gates.hpp"
#include "rnnopt/math.hpp"
#include "rnnopt/pack.hpp"

/// The cell contract: one hidden unit, one step.
///
/// A cell is an empty struct with
///   using gates                      a rnnopt::gates<feed...> list
///   static constexpr int states      number of H-wide vectors it carries; state 0 is the output h, which feeds R
///   static constexpr int unit_parameters   (optional, 0) scalars per hidden unit, e.g. peephole weights
///   step(gates, states)              or step(gates, states, units) with unit parameters: packs of numbers in, the
///                                    rnnopt::pack of the next states out; a static template marked RNNOPT_HD
///   backward(gates, states, next)    (optional; units third where there are any) the hand-written vector-Jacobian
///                                    product: gradients of the next states in, rnnopt::gradients out
/// The elements of the packs are rnnopt::dual numbers; every function of math.hpp and any constant may be applied.

namespace rnnopt {

/// @brief What a hand-written `backward` returns: gradients of pre-activations, previous states and unit parameters.
template <class Gates, class States, class Units = pack<>>
struct gradients {
  Gates gates;
  States states;
  Units units;

  RNNOPT_HD constexpr gradients(Gates const& g, States const& s, Units const& u = Units())
      : gates(g), states(s), units(u) {}
};

namespace detail {

template <class Cell, class = void>
struct has_gates : std::false_type {};
template <class Cell>
struct has_gates<Cell, std::void_t<typename Cell::gates>> : std::true_type {};
template <class T>
struct is_gates : std::false_type {};
template <feed... Feeds>
struct is_gates<gates<Feeds...>> : std::true_type {};

template <class Cell, class = void>
struct has_states : std::false_type {};
template <class Cell>
struct has_states<Cell, std::void_t<decltype(Cell::states)>> : std::true_type {};

template <class Cell, class = void>
struct unit_parameters_of : std::integral_constant<int, 0> {};
template <class Cell>
struct unit_parameters_of<Cell, std::void_t<decltype(Cell::unit_parameters)>>
    : std::integral_constant<int, Cell::unit_parameters> {};

/// Counts of a cell that has passed its check.
template <class Cell>
struct cell_traits {
  using gates = typename Cell::gates;
  static constexpr int gate_count = gates::count;
  static constexpr int states = Cell::states;
  static constexpr int unit_parameters = unit_parameters_of<Cell>::value;
};

template <class Cell>
constexpr cell_shape shape_of() {
  return {Cell::gates::count, Cell::gates::input_count,       Cell::gates::recurrent_count, Cell::gates::same_rows,
          Cell::states,       unit_parameters_of<Cell>::value};
}

/// Input pack of a step: element i of the run is a dual on input First + i when Seeded, a plain number otherwise.
template <class T, int First, bool Seeded, std::size_t... Indices>
auto step_pack_of(std::index_sequence<Indices...>)
    -> pack<dual<T, (Seeded ? 1U << (First + static_cast<int>(Indices)) : 0U)>...>;
template <class T, int First, int Count, bool Seeded>
using step_pack = decltype(step_pack_of<T, First, Seeded>(std::make_index_sequence<Count>{}));

template <class Cell, class T, bool Seeded>
using gate_pack = step_pack<T, 0, Cell::gates::count, Seeded>;
template <class Cell, class T, bool Seeded>
using state_pack = step_pack<T, Cell::gates::count, Cell::states, Seeded>;
template <class Cell, class T, bool Seeded>
using unit_pack = step_pack<T, Cell::gates::count + Cell::states, unit_parameters_of<Cell>::value, Seeded>;

struct not_callable {};

template <class Cell, class... Packs>
using step_type = decltype(Cell::step(std::declval<Packs const&>()...));
template <class Void, class Cell, class... Packs>
struct step_of {
  using type = not_callable;
};
template <class Cell, class... Packs>
struct step_of<std::void_t<step_type<Cell, Packs...>>, Cell, Packs...> {
  using type = step_type<Cell, Packs...>;
};
/// What step returns for these packs; a cell without unit parameters is not given the third.
template <class Cell, class Gates, class States, class Units>
struct step_result : std::conditional_t<std::is_same_v<Units, pack<>>, step_of<void, Cell, Gates, States>,
                                        step_of<void, Cell, Gates, States, Units>> {};

template <class Cell>
struct takes_units : std::bool_constant<(unit_parameters_of<Cell>::value > 0)> {};

template <class T>
struct pack_size : std::integral_constant<int, -1> {};
template <class... Ts>
struct pack_size<pack<Ts...>> : std::integral_constant<int, static_cast<int>(sizeof...(Ts))> {};

template <class T>
inline constexpr bool is_number = std::is_arithmetic_v<T> || is_dual<T>::value;
template <class T>
struct pack_of_numbers : std::false_type {};
template <class... Ts>
struct pack_of_numbers<pack<Ts...>> : std::bool_constant<(is_number<Ts> && ...)> {};

/// Whether `Result` is rnnopt::gradients of as many numbers as the cell has gates, states and unit parameters.
template <class Cell, class Result>
struct gradients_fit : std::false_type {};
template <class Cell, class Gates, class States, class Units>
struct gradients_fit<Cell, gradients<Gates, States, Units>>
    : std::bool_constant<pack_size<Gates>::value == Cell::gates::count && pack_size<States>::value == Cell::states &&
                         pack_size<Units>::value == unit_parameters_of<Cell>::value && pack_of_numbers<Gates>::value &&
                         pack_of_numbers<States>::value && pack_of_numbers<Units>::value> {};

template <class Cell, class... Packs>
using backward_type = decltype(Cell::backward(std::declval<Packs const&>()...));
template <class Void, class Cell, class... Packs>
struct backward_fits : std::false_type {};
template <class Cell, class... Packs>
struct backward_fits<std::void_t<backward_type<Cell, Packs...>>, Cell, Packs...>
    : gradients_fit<Cell, backward_type<Cell, Packs...>> {};

/// Whether the cell brings its own backward.
template <class Cell, class T>
inline constexpr bool writes_backward =
    std::conditional_t<takes_units<Cell>::value,
                       backward_fits<void, Cell, gate_pack<Cell, T, false>, state_pack<Cell, T, false>,
                                     unit_pack<Cell, T, false>, state_pack<Cell, T, false>>,
                       backward_fits<void, Cell, gate_pack<Cell, T, false>, state_pack<Cell, T, false>,
                                     state_pack<Cell, T, false>>>::value;

/// Whether the cell has a member named backward at all: inheriting the name twice makes it ambiguous, if it exists.
struct backward_name {
  int backward;
};
template <class Cell>
struct backward_probe : Cell, backward_name {};
template <class Cell, class = void>
struct names_backward : std::true_type {};
template <class Cell>
struct names_backward<Cell, std::void_t<decltype(&backward_probe<Cell>::backward)>> : std::false_type {};

/// Whether every requirement on a cell holds; the public classes turn each into one named static_assert. A later
/// requirement counts as met while an earlier one that it needs is not, so that one mistake gives one message.
template <class Cell>
struct cell_check {
  static constexpr bool empty = std::is_empty_v<Cell>;
  static constexpr bool not_final = !std::is_final_v<Cell>;  // names_backward inherits from it
  static constexpr bool gates() {
    if constexpr (has_gates<Cell>::value) return is_gates<typename Cell::gates>::value;
    else return false;
  }
  static constexpr bool states() {
    if constexpr (has_states<Cell>::value) return std::is_convertible_v<decltype(Cell::states), int>;
    else return false;
  }
  static constexpr bool states_positive() {
    if constexpr (states()) return Cell::states >= 1;
    else return true;
  }
  static constexpr bool units_not_negative() { return unit_parameters_of<Cell>::value >= 0; }
  static constexpr bool few_inputs() {
    if constexpr (gates() && states()) return Cell::gates::count + Cell::states + unit_parameters_of<Cell>::value <= 32;
    else return true;
  }
  static constexpr bool counts() {
    return gates() && states() && states_positive() && units_not_negative() && few_inputs();
  }
  template <bool Seeded>
  static constexpr auto step_type() {
    if constexpr (counts())
      return std::common_type<
          typename step_result<Cell, gate_pack<Cell, float, Seeded>, state_pack<Cell, float, Seeded>,
                               unit_pack<Cell, float, Seeded>>::type>{};
    else return std::common_type<not_callable>{};
  }
  using result = typename decltype(step_type<true>())::type;
  static constexpr bool step_is_callable = !std::is_same_v<result, not_callable>;
  static constexpr bool step() { return !counts() || step_is_callable; }
  static constexpr bool step_returns_states() {
    if constexpr (counts() && step_is_callable) return pack_size<result>::value == Cell::states;
    else return true;
  }
  static constexpr bool step_returns_numbers() {
    if constexpr (counts() && step_is_callable) return !step_returns_states() || pack_of_numbers<result>::value;
    else return true;
  }
  static constexpr bool backward() {
    if constexpr (empty && not_final && counts() && step() && step_returns_states() && step_returns_numbers())
      return !names_backward<Cell>::value || (writes_backward<Cell, float> && writes_backward<Cell, double>);
    else return true;
  }
  static constexpr bool value =
      empty && not_final && counts() && step() && step_returns_states() && step_returns_numbers() && backward();
};

/// One named message per requirement; nothing below is instantiated when one of them fires.
template <class Cell>
struct require_cell {
  using check = cell_check<Cell>;
  static_assert(check::empty, "rnnopt: the cell has data members; write an empty struct, all of it static");
  static_assert(check::not_final, "rnnopt: the cell is final; write the struct without it");
  static_assert(check::gates(),
                "rnnopt: the cell declares no gates; write using gates = rnnopt::gates<rnnopt::feed::both, ...>");
  static_assert(check::states(), "rnnopt: the cell declares no states; write static constexpr int states = 1");
  static_assert(check::states_positive(),
                "rnnopt: the cell has no state; write static constexpr int states = 1 or more");
  static_assert(check::units_not_negative(),
                "rnnopt: unit_parameters is negative; write static constexpr int unit_parameters = 0 or more");
  static_assert(check::few_inputs(),
                "rnnopt: gates + states + unit_parameters is above 32; write a cell with fewer of them");
  static_assert(
      check::step(),
      "rnnopt: the cell's step cannot be called; write template <class Gates, class States> RNNOPT_HD static "
      "auto step(Gates const&, States const&), with a third pack where it has unit_parameters; an error above, "
      "inside step, is what stands in the way");
  static_assert(check::step_returns_states(),
                "rnnopt: step does not return one value per state; write return rnnopt::pack(h, ...) with as many "
                "values as states");
  static_assert(
      check::step_returns_numbers(),
      "rnnopt: step returns something that is no number; write return rnnopt::pack(h, ...) of the numbers it computed");
  static_assert(
      check::backward(),
      "rnnopt: the cell's backward cannot be called or returns the wrong shape; write backward(gates, states, "
      "next) (units third where it has them) returning rnnopt::gradients(pack, pack, pack), or leave it out");
  static constexpr bool value = check::value;
};

}  // namespace detail
}  // namespace rnnopt

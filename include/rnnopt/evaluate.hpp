#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "rnnopt/cell.hpp"

/// How the library evaluates a cell: one unit and step, forward, and backward as derived from `step` or as written.

namespace rnnopt::detail {

/// The plain value of an element of a step's result, which may be a dual or a constant.
template <class T, class Element>
RNNOPT_HD constexpr T value_of(Element const& element) {
  if constexpr (is_dual<Element>::value) return element.value;
  else return static_cast<T>(element);
}

template <int Index, class T, class Element>
RNNOPT_HD constexpr T partial_of(Element const& element) {
  if constexpr (is_dual<Element>::value) return element.template partial<Index>();
  else return T(0);
}
template <int Index, class Element>
RNNOPT_HD constexpr bool element_depends_on() {
  if constexpr (is_dual<Element>::value) return Element::template depends_on<Index>;
  else return false;
}

/// Turns plain numbers into the input pack `Pack`; duals on one input get derivative 1.
template <class Pack, class T, std::size_t Count>
RNNOPT_HD Pack seed(T const (&values)[Count]) {
  Pack result;
  for_each_index<std::tuple_size<Pack>::value>([&](auto index) {
    auto& element = get<index.value>(result);
    element.value = values[index.value];
    if constexpr (std::decay_t<decltype(element)>::mask != 0) element.values[0] = T(1);
  });
  return result;
}

/// Sum over states s of next_gradient[s] * d next[s] / d input Index: one entry of the vector-Jacobian product.
template <int Index, class T, class Next, std::size_t... States>
RNNOPT_HD T pull_back(Next const& next, T const* next_gradient, std::index_sequence<States...>) {
  T sum = T(0);
  bool first = true;
  auto const add = [&](auto state) {
    using element = std::tuple_element_t<state.value, Next>;
    if constexpr (element_depends_on<Index, element>()) {
      T const term = next_gradient[state.value] * partial_of<Index, T>(get<state.value>(next));
      sum = first ? term : sum + term;
      first = false;
    }
  };
  (add(std::integral_constant<std::size_t, States>{}), ...);
  return sum;
}

/// Plain-array form of the gradients of one unit and step.
template <class Cell, class T>
struct unit_gradients {
  T gates[cell_traits<Cell>::gate_count];
  T states[cell_traits<Cell>::states];
  T units[cell_traits<Cell>::unit_parameters > 0 ? cell_traits<Cell>::unit_parameters : 1];
};

/// Plain-array form of the inputs of one unit and step.
template <class Cell, class T>
struct unit_inputs {
  T gates[cell_traits<Cell>::gate_count];
  T states[cell_traits<Cell>::states];
  T units[cell_traits<Cell>::unit_parameters > 0 ? cell_traits<Cell>::unit_parameters : 1];
};

/// The derived vector-Jacobian product from the result of a seeded step.
template <class Cell, class T, class Next>
RNNOPT_HD void contract(Next const& next, T const* next_gradient, unit_gradients<Cell, T>& out) {
  using traits = cell_traits<Cell>;
  using states = std::make_index_sequence<traits::states>;
  for_each_index<traits::gate_count>(
      [&](auto i) { out.gates[i.value] = pull_back<int(i.value)>(next, next_gradient, states{}); });
  for_each_index<traits::states>([&](auto i) {
    out.states[i.value] = pull_back<traits::gate_count + int(i.value)>(next, next_gradient, states{});
  });
  for_each_index<traits::unit_parameters>([&](auto i) {
    out.units[i.value] = pull_back<traits::gate_count + traits::states + int(i.value)>(next, next_gradient, states{});
  });
}

/// Plain arrays from what a hand-written backward returned.
template <class Cell, class T, class Gradients>
RNNOPT_HD void unpack(Gradients const& from, unit_gradients<Cell, T>& out) {
  using traits = cell_traits<Cell>;
  for_each_index<traits::gate_count>([&](auto i) { out.gates[i.value] = value_of<T>(get<i.value>(from.gates)); });
  for_each_index<traits::states>([&](auto i) { out.states[i.value] = value_of<T>(get<i.value>(from.states)); });
  for_each_index<traits::unit_parameters>([&](auto i) { out.units[i.value] = value_of<T>(get<i.value>(from.units)); });
}

template <class Next, class T, std::size_t States>
RNNOPT_HD void unpack_states(Next const& next, T (&out)[States]) {
  for_each_index<States>([&](auto i) { out[i.value] = value_of<T>(get<i.value>(next)); });
}

// Calls into the user's cell. The device has its own, which are __device__ only (device/cell.cuh): a cell that forgot
// RNNOPT_HD is then an error there, not a warning.

/// Next states of one unit, on the host.
template <class Cell, class T>
void host_step(unit_inputs<Cell, T> const& in, T (&next)[cell_traits<Cell>::states]) {
  auto const g = seed<gate_pack<Cell, T, false>>(in.gates);
  auto const s = seed<state_pack<Cell, T, false>>(in.states);
  if constexpr (takes_units<Cell>::value)
    unpack_states(Cell::step(g, s, seed<unit_pack<Cell, T, false>>(in.units)), next);
  else unpack_states(Cell::step(g, s), next);
}

/// Backward derived from `step`, on the host, whether or not the cell brings its own.
template <class Cell, class T>
void host_derived_backward(unit_inputs<Cell, T> const& in, T const* next_gradient, unit_gradients<Cell, T>& out) {
  auto const g = seed<gate_pack<Cell, T, true>>(in.gates);
  auto const s = seed<state_pack<Cell, T, true>>(in.states);
  if constexpr (takes_units<Cell>::value)
    contract<Cell, T>(Cell::step(g, s, seed<unit_pack<Cell, T, true>>(in.units)), next_gradient, out);
  else contract<Cell, T>(Cell::step(g, s), next_gradient, out);
}

/// The backward the library uses, on the host: the cell's own where it has one.
template <class Cell, class T>
void host_backward(unit_inputs<Cell, T> const& in, T const (&next_gradient)[cell_traits<Cell>::states],
                   unit_gradients<Cell, T>& out) {
  if constexpr (writes_backward<Cell, T>) {
    auto const g = seed<gate_pack<Cell, T, false>>(in.gates);
    auto const s = seed<state_pack<Cell, T, false>>(in.states);
    auto const n = seed<state_pack<Cell, T, false>>(next_gradient);
    if constexpr (takes_units<Cell>::value)
      unpack<Cell, T>(Cell::backward(g, s, seed<unit_pack<Cell, T, false>>(in.units), n), out);
    else unpack<Cell, T>(Cell::backward(g, s, n), out);
  } else {
    host_derived_backward(in, next_gradient, out);
  }
}

}  // namespace rnnopt::detail

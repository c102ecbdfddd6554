#pragma once

#include "rnnopt/evaluate.hpp"

/// Calls into the user's cell on the device. These are __device__ only, so that a cell that forgot RNNOPT_HD is an
/// error and not a warning (the host's are in evaluate.hpp).

namespace rnnopt::detail {

/// Next states of one unit.
template <class Cell, class T>
__device__ void device_step(unit_inputs<Cell, T> const& in, T (&next)[cell_traits<Cell>::states]) {
  auto const g = seed<gate_pack<Cell, T, false>>(in.gates);
  auto const s = seed<state_pack<Cell, T, false>>(in.states);
  if constexpr (takes_units<Cell>::value)
    unpack_states(Cell::step(g, s, seed<unit_pack<Cell, T, false>>(in.units)), next);
  else unpack_states(Cell::step(g, s), next);
}

/// Vector-Jacobian product of one unit: the cell's own backward where it has one, otherwise derived from step.
template <class Cell, class T>
__device__ void device_backward(unit_inputs<Cell, T> const& in, T const (&next_gradient)[cell_traits<Cell>::states],
                                unit_gradients<Cell, T>& out) {
  if constexpr (writes_backward<Cell, T>) {
    auto const g = seed<gate_pack<Cell, T, false>>(in.gates);
    auto const s = seed<state_pack<Cell, T, false>>(in.states);
    auto const n = seed<state_pack<Cell, T, false>>(next_gradient);
    if constexpr (takes_units<Cell>::value)
      unpack<Cell, T>(Cell::backward(g, s, seed<unit_pack<Cell, T, false>>(in.units), n), out);
    else unpack<Cell, T>(Cell::backward(g, s, n), out);
  } else {
    auto const g = seed<gate_pack<Cell, T, true>>(in.gates);
    auto const s = seed<state_pack<Cell, T, true>>(in.states);
    if constexpr (takes_units<Cell>::value)
      contract<Cell, T>(Cell::step(g, s, seed<unit_pack<Cell, T, true>>(in.units)), next_gradient, out);
    else contract<Cell, T>(Cell::step(g, s), next_gradient, out);
  }
}

}  // namespace rnnopt::detail

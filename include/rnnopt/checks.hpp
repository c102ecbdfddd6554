#pragma once

#include <cstdint>
#include <string>

#include "rnnopt/arguments.hpp"
#include "rnnopt/error.hpp"
#include "rnnopt/extents.hpp"
#include "rnnopt/schedule.hpp"
#include "rnnopt/workspace.hpp"

/// Every precondition of a run that can be seen without touching the data; shared by the host and the GPU executor.

namespace rnnopt::detail {

/// Largest power of two, at most 16, that divides each of the byte counts: what a row of that many bytes keeps of a
/// buffer's alignment, hence what products may be told and callers must give.
template <class... Bytes>
constexpr std::size_t natural_alignment(Bytes... bytes) {
  std::size_t alignment = 16;
  for (std::int64_t const b : {static_cast<std::int64_t>(bytes)...})
    while (b % static_cast<std::int64_t>(alignment) != 0) alignment /= 2;
  return alignment;
}

inline void check_pointer(std::string const& where, std::string const& name, void const* pointer,
                          std::size_t alignment) {
  if (reinterpret_cast<std::uintptr_t>(pointer) % alignment != 0)
    fail(errc::misaligned, where, name + " is not aligned to " + std::to_string(alignment) + " bytes");
}

inline void check_required(std::string const& where, std::string const& name, void const* pointer,
                           std::size_t alignment) {
  if (pointer == nullptr) fail(errc::null_pointer, where, name + " is null, needs a buffer");
  check_pointer(where, name, pointer, alignment);
}

inline void check_scratch(std::string const& where, std::string const& name, const_memory const& given,
                          std::size_t needed, errc too_small) {
  if (needed == 0) return;
  if (given.bytes < needed)
    fail(too_small, where, name + " has " + std::to_string(given.bytes) + " bytes, needs " + std::to_string(needed),
         "see " + name + "_bytes()");
  check_required(where, name, given.data, scratch_alignment);
}

inline void check_same_device(std::string const& where, std::string const& what, int got, int planned) {
  if (got != planned)
    fail(errc::wrong_device, where,
         what + " is " + std::to_string(got) + ", the plan is for device " + std::to_string(planned),
         "call cudaSetDevice, or plan on that device");
}

template <class H, class Other, int States>
void check_states(std::string const& where, std::string const& name, state_pointers<H, Other, States> const& states) {
  check_pointer(where, name + ".h", states.h, sizeof(H));
  for (std::size_t s = 0; s + 1 < States; ++s)
    check_pointer(where, name + ".others[" + std::to_string(s) + "]", states.others[s], sizeof(Other));
}

/// Weights of every line; `input_alignment(layer)` and `recurrent_alignment` are what the products were planned for.
template <class T>
void check_weights(std::string const& where, line_weights<T> const* weights, extents const& e, cell_shape const& cell) {
  if (weights == nullptr) fail(errc::null_pointer, where, "weights is null, needs an array of line_weights");
  for (std::int64_t i = 0; i < e.lines(); ++i) {
    std::string const name = "weights[" + std::to_string(i) + "]";
    std::int64_t const row = e.hidden * std::int64_t(sizeof(T));
    std::int64_t const input_row = e.input_of(i / e.directions) * std::int64_t(sizeof(T));
    if (cell.input_gates > 0)
      check_required(where, name + ".input", weights[i].input, natural_alignment(row, input_row));
    if (cell.recurrent_gates > 0)
      check_required(where, name + ".recurrent", weights[i].recurrent, natural_alignment(row));
    check_pointer(where, name + ".bias", weights[i].bias, sizeof(T));
    if (cell.unit_parameters > 0 && weights[i].units == nullptr)
      fail(errc::unit_parameters_missing, where, name + ".units is null, the cell has unit parameters",
           "give [unit_parameters, hidden]");
    check_pointer(where, name + ".units", weights[i].units, sizeof(T));
  }
}

template <class Cell, class Precision>
void check_forward(std::string const& where, forward_arguments<Cell, Precision> const& a, extents const& e,
                   std::size_t workspace_bytes, std::size_t reserve_bytes) {
  using storage = typename Precision::storage;
  check_weights(where, a.weights, e, shape_of<Cell>());
  bool const empty = e.steps == 0 || e.batch == 0;
  if (!empty) check_required(where, "x", a.x, natural_alignment(e.input * std::int64_t(sizeof(storage))));
  check_pointer(where, "y", a.y, sizeof(storage));
  check_states(where, "initial", a.initial);
  check_states(where, "final", a.final);
  check_pointer(where, "lengths", a.lengths, sizeof(std::int32_t));
  check_scratch(where, "workspace", a.workspace, workspace_bytes, errc::workspace_too_small);
  check_scratch(where, "reserve", a.reserve, reserve_bytes, errc::reserve_too_small);
}

template <class Cell, class Precision>
void check_backward(std::string const& where, backward_arguments<Cell, Precision> const& a, extents const& e,
                    gradient_request wanted, std::size_t workspace_bytes, std::size_t reserve_bytes) {
  using storage = typename Precision::storage;
  using accumulate = typename Precision::accumulate;
  check_weights(where, a.weights, e, shape_of<Cell>());
  bool const empty = e.steps == 0 || e.batch == 0;
  check_pointer(where, "dy", a.dy, sizeof(storage));
  check_pointer(where, "dx", a.dx, natural_alignment(e.input * std::int64_t(sizeof(storage))));
  check_states(where, "final_gradient", a.final_gradient);
  check_states(where, "initial_gradient", a.initial_gradient);
  check_pointer(where, "lengths", a.lengths, sizeof(std::int32_t));
  if (wanted.weights) {
    if (a.gradients == nullptr)
      fail(errc::null_pointer, where, "gradients is null, needs an array of line_weights",
           "call backward_data where no weight gradient is wanted");
    for (std::int64_t i = 0; i < e.lines(); ++i) {
      std::string const name = "gradients[" + std::to_string(i) + "]";
      std::int64_t const row = e.hidden * std::int64_t(sizeof(accumulate));
      std::int64_t const input_row = e.input_of(i / e.directions) * std::int64_t(sizeof(accumulate));
      check_pointer(where, name + ".input", a.gradients[i].input, natural_alignment(row, input_row));
      check_pointer(where, name + ".recurrent", a.gradients[i].recurrent, natural_alignment(row));
      check_pointer(where, name + ".bias", a.gradients[i].bias, sizeof(accumulate));
      check_pointer(where, name + ".units", a.gradients[i].units, sizeof(accumulate));
      if (i < e.directions && a.gradients[i].input != nullptr && !empty)
        check_required(where, "x", a.x, natural_alignment(e.input * std::int64_t(sizeof(storage))));
    }
  }
  check_scratch(where, "workspace", a.workspace, workspace_bytes, errc::workspace_too_small);
  check_scratch(where, "reserve", a.reserve, reserve_bytes, errc::reserve_too_small);
}

}  // namespace rnnopt::detail

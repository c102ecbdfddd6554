#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "rnnopt/arguments.hpp"
#include "rnnopt/error.hpp"
#include "rnnopt/extents.hpp"
#include "rnnopt/schedule.hpp"
#include "rnnopt/workspace.hpp"

/// Every precondition of a run that can be seen without touching the data; shared by the host and the GPU executor.
/// Text is put together only where something is wrong: a run that is right allocates nothing here.

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

/// How an argument is called in a message: "weights[1].input".
struct argument_name {
  char const* before;
  std::int64_t index = -1;  ///< -1: none
  char const* after = "";

  std::string text() const {
    return index < 0 ? std::string(before) + after : before + ("[" + std::to_string(index) + "]") + after;
  }
};

inline void check_pointer(char const* where, argument_name const& name, void const* pointer, std::size_t alignment) {
  if (reinterpret_cast<std::uintptr_t>(pointer) % alignment != 0)
    fail(errc::misaligned, where, name.text() + " is not aligned to " + std::to_string(alignment) + " bytes");
}

inline void check_required(char const* where, argument_name const& name, void const* pointer, std::size_t alignment) {
  if (pointer == nullptr) fail(errc::null_pointer, where, name.text() + " is null, needs a buffer");
  check_pointer(where, name, pointer, alignment);
}

inline void check_scratch(char const* where, char const* name, const_memory const& given, std::size_t needed,
                          errc too_small) {
  if (needed == 0) return;
  if (given.bytes < needed)
    fail(too_small, where,
         std::string(name) + " has " + std::to_string(given.bytes) + " bytes, needs " + std::to_string(needed),
         "see " + std::string(name) + "_bytes()");
  check_required(where, {name}, given.data, scratch_alignment);
}

/// Two buffers of which one is written while the other is still needed.
inline void check_apart(char const* where, char const* name, void const* one, std::int64_t one_bytes,
                        char const* other_name, void const* other, std::int64_t other_bytes) {
  auto const a = reinterpret_cast<std::uintptr_t>(one), b = reinterpret_cast<std::uintptr_t>(other);
  if (one == nullptr || other == nullptr || one_bytes == 0 || other_bytes == 0) return;
  if (a < b + std::uintptr_t(other_bytes) && b < a + std::uintptr_t(one_bytes))
    fail(errc::overlapping, where, std::string(name) + " and " + other_name + " overlap", "give each its own buffer");
}

inline void check_same_device(char const* where, char const* what, int got, int planned) {
  if (got != planned)
    fail(errc::wrong_device, where,
         std::string(what) + " is " + std::to_string(got) + ", the plan is for device " + std::to_string(planned),
         "call cudaSetDevice, or plan on that device");
}

template <class H, class Other, int States>
void check_states(char const* where, char const* h_name, char const* others_name,
                  state_pointers<H, Other, States> const& states) {
  check_pointer(where, {h_name}, states.h, sizeof(H));
  for (std::size_t s = 0; s != std::size_t(States) - 1; ++s)
    check_pointer(where, {others_name, std::int64_t(s)}, states.others[s], sizeof(Other));
}

template <class T>
void check_weights(char const* where, line_weights<T> const* weights, extents const& e, cell_shape const& cell) {
  if (weights == nullptr) fail(errc::null_pointer, where, "weights is null, needs an array of line_weights");
  std::int64_t const size = sizeof(T);
  for (std::int64_t i = 0; i < e.lines(); ++i) {
    std::int64_t const row = e.hidden * size, input_row = e.input_of(i / e.directions) * size;
    if (cell.input_gates > 0)
      check_required(where, {"weights", i, ".input"}, weights[i].input, natural_alignment(row, input_row));
    if (cell.recurrent_gates > 0)
      check_required(where, {"weights", i, ".recurrent"}, weights[i].recurrent, natural_alignment(row));
    check_pointer(where, {"weights", i, ".bias"}, weights[i].bias, sizeof(T));
    if (cell.unit_parameters > 0 && weights[i].units == nullptr)
      fail(errc::unit_parameters_missing, where,
           argument_name{"weights", i, ".units"}.text() + " is null, the cell has unit parameters",
           "give [unit_parameters, hidden]");
    check_pointer(where, {"weights", i, ".units"}, weights[i].units, sizeof(T));
  }
}

template <class Cell, class Precision>
void check_forward(char const* where, forward_arguments<Cell, Precision> const& a, extents const& e,
                   std::size_t workspace_bytes, std::size_t reserve_bytes) {
  using storage = typename Precision::storage;
  std::int64_t const size = sizeof(storage), rows = e.steps * e.batch;
  check_weights(where, a.weights, e, shape_of<Cell>());
  if (rows != 0 && Cell::gates::input_count > 0) check_required(where, {"x"}, a.x, natural_alignment(e.input * size));
  check_pointer(where, {"y"}, a.y, sizeof(storage));
  check_states(where, "initial.h", "initial.others", a.initial);
  check_states(where, "final.h", "final.others", a.final);
  check_pointer(where, {"lengths"}, a.lengths, sizeof(std::int32_t));
  check_scratch(where, "workspace", a.workspace, workspace_bytes, errc::workspace_too_small);
  check_scratch(where, "reserve", a.reserve, reserve_bytes, errc::reserve_too_small);
  std::int64_t const x_bytes = rows * e.input * size, y_bytes = rows * e.directions * e.hidden * size;
  std::int64_t const workspace = std::int64_t(workspace_bytes), reserve = std::int64_t(reserve_bytes);
  check_apart(where, "x", a.x, x_bytes, "y", a.y, y_bytes);
  check_apart(where, "x", a.x, x_bytes, "workspace", a.workspace.data, workspace);
  check_apart(where, "x", a.x, x_bytes, "reserve", a.reserve.data, reserve);
  check_apart(where, "y", a.y, y_bytes, "workspace", a.workspace.data, workspace);
  check_apart(where, "y", a.y, y_bytes, "reserve", a.reserve.data, reserve);
  check_apart(where, "workspace", a.workspace.data, workspace, "reserve", a.reserve.data, reserve);
}

template <class Cell, class Precision>
void check_gradients(char const* where, backward_arguments<Cell, Precision> const& a, extents const& e) {
  using storage = typename Precision::storage;
  using accumulate = typename Precision::accumulate;
  if (a.gradients == nullptr)
    fail(errc::null_pointer, where, "gradients is null, needs an array of line_weights",
         "call backward_data where no weight gradient is wanted");
  std::int64_t const size = sizeof(accumulate);
  for (std::int64_t i = 0; i < e.lines(); ++i) {
    std::int64_t const row = e.hidden * size, input_row = e.input_of(i / e.directions) * size;
    check_pointer(where, {"gradients", i, ".input"}, a.gradients[i].input, natural_alignment(row, input_row));
    check_pointer(where, {"gradients", i, ".recurrent"}, a.gradients[i].recurrent, natural_alignment(row));
    check_pointer(where, {"gradients", i, ".bias"}, a.gradients[i].bias, sizeof(accumulate));
    check_pointer(where, {"gradients", i, ".units"}, a.gradients[i].units, sizeof(accumulate));
    if (i < e.directions && a.gradients[i].input != nullptr && e.steps * e.batch != 0 && Cell::gates::input_count > 0)
      check_required(where, {"x"}, a.x, natural_alignment(e.input * std::int64_t(sizeof(storage))));
  }
}

template <class Cell, class Precision>
void check_backward(char const* where, backward_arguments<Cell, Precision> const& a, extents const& e,
                    gradient_request wanted, std::size_t workspace_bytes, std::size_t reserve_bytes) {
  using storage = typename Precision::storage;
  std::int64_t const size = sizeof(storage), rows = e.steps * e.batch;
  check_weights(where, a.weights, e, shape_of<Cell>());
  check_pointer(where, {"dy"}, a.dy, sizeof(storage));
  check_pointer(where, {"dx"}, a.dx, natural_alignment(e.input * size));
  check_states(where, "final_gradient.h", "final_gradient.others", a.final_gradient);
  check_states(where, "initial_gradient.h", "initial_gradient.others", a.initial_gradient);
  check_pointer(where, {"lengths"}, a.lengths, sizeof(std::int32_t));
  if (wanted.weights) check_gradients(where, a, e);
  check_scratch(where, "workspace", a.workspace, workspace_bytes, errc::workspace_too_small);
  check_scratch(where, "reserve", a.reserve, reserve_bytes, errc::reserve_too_small);
  std::int64_t const x_bytes = rows * e.input * size, dy_bytes = rows * e.directions * e.hidden * size;
  std::int64_t const workspace = std::int64_t(workspace_bytes), reserve = std::int64_t(reserve_bytes);
  check_apart(where, "x", a.x, x_bytes, "dx", a.dx, x_bytes);
  check_apart(where, "x", a.x, x_bytes, "workspace", a.workspace.data, workspace);
  check_apart(where, "dy", a.dy, dy_bytes, "dx", a.dx, x_bytes);
  check_apart(where, "dy", a.dy, dy_bytes, "workspace", a.workspace.data, workspace);
  check_apart(where, "dx", a.dx, x_bytes, "workspace", a.workspace.data, workspace);
  check_apart(where, "dx", a.dx, x_bytes, "reserve", a.reserve.data, reserve);
  check_apart(where, "workspace", a.workspace.data, workspace, "reserve", a.reserve.data, reserve);
}

}  // namespace rnnopt::detail

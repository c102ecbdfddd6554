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

/// Packed weights have to be there exactly where they are read.
inline void check_packed(char const* where, const_memory const& given, std::size_t needed) {
  if (needed == 0 && (given.data != nullptr || given.bytes != 0))
    fail(errc::packed_not_read, where, "packed is given, this network reads the weights themselves",
         "leave it null where packed_bytes() is 0");
  check_scratch(where, "packed", given, needed, errc::packed_too_small);
}

/// A stretch of memory that a run reads or writes.
struct named_range {
  argument_name name;
  void const* data;
  std::int64_t bytes;
};

/// Two buffers of which one is written while the other is still needed.
inline void check_apart(char const* where, named_range const& one, named_range const& other) {
  auto const a = reinterpret_cast<std::uintptr_t>(one.data), b = reinterpret_cast<std::uintptr_t>(other.data);
  if (one.data == nullptr || other.data == nullptr || one.bytes == 0 || other.bytes == 0) return;
  if (a < b + std::uintptr_t(other.bytes) && b < a + std::uintptr_t(one.bytes))
    fail(errc::overlapping, where, one.name.text() + " and " + other.name.text() + " overlap",
         "give each its own buffer");
}

/// Each of the ranges against all that follow it.
template <std::size_t Count>
void check_all_apart(char const* where, named_range const (&ranges)[Count]) {
  for (std::size_t i = 0; i != Count; ++i)
    for (std::size_t j = i + 1; j != Count; ++j) check_apart(where, ranges[i], ranges[j]);
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

/// Packed weights, which are written here, against the weights.
template <class T>
void check_packed_apart(char const* where, line_weights<T> const* weights, extents const& e, cell_shape const& cell,
                        named_range const& packed) {
  for (std::int64_t i = 0; i < e.lines(); ++i) {
    std::int64_t const row = e.hidden * std::int64_t(sizeof(T));
    check_apart(where,
                {{"weights", i, ".input"}, weights[i].input, cell.input_gates * e.input_of(i / e.directions) * row},
                packed);
    check_apart(where, {{"weights", i, ".recurrent"}, weights[i].recurrent, cell.recurrent_gates * e.hidden * row},
                packed);
  }
}

template <class Cell, class Precision>
void check_forward(char const* where, forward_arguments<Cell, Precision> const& a, extents const& e,
                   std::size_t workspace_bytes, std::size_t reserve_bytes, std::size_t packed_bytes) {
  using storage = typename Precision::storage;
  std::int64_t const size = sizeof(storage), rows = e.steps * e.batch;
  check_weights(where, a.weights, e, shape_of<Cell>());
  if (rows != 0 && Cell::gates::input_count > 0) check_required(where, {"x"}, a.x, natural_alignment(e.input * size));
  check_pointer(where, {"y"}, a.y, sizeof(storage));
  check_states(where, "initial.h", "initial.others", a.initial);
  check_states(where, "final.h", "final.others", a.final);
  check_pointer(where, {"lengths"}, a.lengths, sizeof(std::int32_t));
  check_packed(where, a.packed, packed_bytes);
  check_scratch(where, "workspace", a.workspace, workspace_bytes, errc::workspace_too_small);
  check_scratch(where, "reserve", a.reserve, reserve_bytes, errc::reserve_too_small);
  std::int64_t const plane = e.lines() * e.batch * e.hidden;
  named_range const workspace{{"workspace"}, a.workspace.data, std::int64_t(workspace_bytes)};
  named_range const reserve{{"reserve"}, a.reserve.data, std::int64_t(reserve_bytes)};
  named_range const y{{"y"}, a.y, rows * e.directions * e.hidden * size};
  named_range const final_h{{"final.h"}, a.final.h, plane * size};
  check_all_apart(where, {{{"x"}, a.x, rows * e.input * size}, y, final_h, workspace, reserve});
  check_all_apart(where, {{{"packed"}, a.packed.data, std::int64_t(packed_bytes)}, y, workspace, reserve});
  check_all_apart(where, {{{"initial.h"}, a.initial.h, plane * size}, y, workspace, reserve});
  for (std::size_t s = 0; s != std::size_t(Cell::states) - 1; ++s) {
    std::int64_t const bytes = plane * std::int64_t(sizeof(typename Precision::state));
    named_range const final_other{{"final.others", std::int64_t(s)}, a.final.others[s], bytes};
    check_all_apart(where, {final_h, final_other, y, workspace, reserve});
    check_all_apart(where, {{{"initial.others", std::int64_t(s)}, a.initial.others[s], bytes}, y, workspace, reserve});
    for (std::size_t t = 0; t != s; ++t)
      check_apart(where, {{"final.others", std::int64_t(t)}, a.final.others[t], bytes}, final_other);
  }
  for (std::int64_t i = 0; i < e.lines(); ++i) {
    std::int64_t const w = std::int64_t(Cell::gates::input_count) * e.hidden * e.input_of(i / e.directions) * size;
    std::int64_t const r = std::int64_t(Cell::gates::recurrent_count) * e.hidden * e.hidden * size;
    check_all_apart(where, {{{"weights", i, ".input"}, a.weights[i].input, w}, y, workspace, reserve});
    check_all_apart(where, {{{"weights", i, ".recurrent"}, a.weights[i].recurrent, r}, y, workspace, reserve});
  }
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

/// Weight gradients against scratch, and those of each line against those of every other: tied layers have to be given
/// gradients of their own, to be added afterwards.
template <class Cell, class Precision>
void check_gradients_apart(char const* where, line_weights<typename Precision::accumulate> const* gradients,
                           extents const& e, named_range const& workspace, named_range const& reserve) {
  std::int64_t const row = e.hidden * std::int64_t(sizeof(typename Precision::accumulate));
  auto const range = [&](std::int64_t i, int part) -> named_range {
    auto const& g = gradients[i];
    switch (part) {
      case 0:
        return {{"gradients", i, ".input"}, g.input, Cell::gates::input_count * e.input_of(i / e.directions) * row};
      case 1:
        return {{"gradients", i, ".recurrent"}, g.recurrent, Cell::gates::recurrent_count * e.hidden * row};
      case 2:
        return {{"gradients", i, ".bias"}, g.bias, Cell::gates::count * row};
      default:
        return {{"gradients", i, ".units"}, g.units, cell_traits<Cell>::unit_parameters * row};
    }
  };
  for (std::int64_t i = 0; i < 4 * e.lines(); ++i) {
    check_all_apart(where, {range(i / 4, int(i % 4)), workspace, reserve});
    for (std::int64_t j = 0; j < i; ++j) check_apart(where, range(j / 4, int(j % 4)), range(i / 4, int(i % 4)));
  }
}

template <class Cell, class Precision>
void check_backward(char const* where, backward_arguments<Cell, Precision> const& a, extents const& e,
                    gradient_request wanted, std::size_t workspace_bytes, std::size_t reserve_bytes,
                    std::size_t packed_bytes) {
  using storage = typename Precision::storage;
  std::int64_t const size = sizeof(storage), rows = e.steps * e.batch;
  check_weights(where, a.weights, e, shape_of<Cell>());
  check_pointer(where, {"dy"}, a.dy, sizeof(storage));
  check_pointer(where, {"dx"}, a.dx, natural_alignment(e.input * size));
  check_states(where, "final_gradient.h", "final_gradient.others", a.final_gradient);
  check_states(where, "initial_gradient.h", "initial_gradient.others", a.initial_gradient);
  check_pointer(where, {"lengths"}, a.lengths, sizeof(std::int32_t));
  check_packed(where, a.packed, packed_bytes);
  if (wanted.weights) check_gradients(where, a, e);
  check_scratch(where, "workspace", a.workspace, workspace_bytes, errc::workspace_too_small);
  check_scratch(where, "reserve", a.reserve, reserve_bytes, errc::reserve_too_small);
  std::int64_t const plane = e.lines() * e.batch * e.hidden;
  named_range const workspace{{"workspace"}, a.workspace.data, std::int64_t(workspace_bytes)};
  named_range const reserve{{"reserve"}, a.reserve.data, std::int64_t(reserve_bytes)};
  named_range const x{{"x"}, a.x, rows * e.input * size}, dx{{"dx"}, a.dx, rows * e.input * size};
  named_range const dy{{"dy"}, a.dy, rows * e.directions * e.hidden * size};
  named_range const initial_h{{"initial_gradient.h"}, a.initial_gradient.h, plane * size};
  check_all_apart(where, {dy, dx, workspace, reserve});
  check_all_apart(where, {{{"packed"}, a.packed.data, std::int64_t(packed_bytes)}, dx, workspace, reserve});
  check_apart(where, x, dx);
  check_apart(where, x, workspace);
  check_all_apart(where, {initial_h, dx, workspace, reserve});
  for (std::size_t s = 0; s != std::size_t(Cell::states) - 1; ++s) {
    std::int64_t const bytes = plane * std::int64_t(sizeof(typename Precision::state));
    named_range const other{{"initial_gradient.others", std::int64_t(s)}, a.initial_gradient.others[s], bytes};
    check_all_apart(where, {initial_h, other, dx, workspace, reserve});
    for (std::size_t t = 0; t != s; ++t)
      check_apart(where, {{"initial_gradient.others", std::int64_t(t)}, a.initial_gradient.others[t], bytes}, other);
  }
  if (wanted.weights) check_gradients_apart<Cell, Precision>(where, a.gradients, e, workspace, reserve);
}

}  // namespace rnnopt::detail

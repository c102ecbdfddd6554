#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "rnnopt/extents.hpp"

/// Where everything lies in the caller's workspace and reserve. Pure arithmetic on extents, shared by the host and the
/// GPU executor; all blocks start at multiples of 256 bytes from a base that is itself 16-byte aligned.

namespace rnnopt {

/// @brief What a run is for; each has its own workspace size.
enum class pass {
  inference,  ///< forward that keeps nothing
  training,   ///< forward that fills the reserve
  backward    ///< data and weight gradients
};

namespace detail {

/// Alignment in bytes that workspace and reserve must have.
inline constexpr std::size_t scratch_alignment = 16;

/// Alignment in bytes that cuBLASLt wants of its scratch; the executor finds such an address inside the workspace.
inline constexpr std::int64_t product_scratch_alignment = 256;

/// Offsets of the states other than h.
using state_offsets = std::array<std::int64_t, 31>;

/// Bytes per element of a precision's types.
struct element_sizes {
  std::int64_t storage;
  std::int64_t accumulate;
  std::int64_t state;
};

template <class Precision>
constexpr element_sizes sizes_of() {
  return {sizeof(typename Precision::storage), sizeof(typename Precision::accumulate),
          sizeof(typename Precision::state)};
}

/// Hands out consecutive blocks of a buffer that does not exist yet.
class arena {
 public:
  explicit arena(std::string where) : where_(std::move(where)) {}

  /// Offset in bytes of a block of count * size bytes.
  template <class... Sizes>
  std::int64_t take(Sizes... sizes) {
    std::int64_t const start = bytes_;
    std::int64_t const end = checked_sum(where_, start, checked_product(where_, sizes...));
    bytes_ = checked_sum(where_, end, 255) / 256 * 256;
    return start;
  }
  std::int64_t bytes() const { return bytes_; }

 private:
  std::string where_;
  std::int64_t bytes_ = 0;
};

/// What an executor needs for itself, on each of its lanes; the host's needs nothing.
struct executor_scratch {
  std::int64_t lanes = 0;
  std::int64_t product_bytes = 0;
  std::int64_t column_sum_rows = 0;    ///< of [gates, hidden]
  std::int64_t elementwise_slots = 0;  ///< of [batch, hidden]
};

/// Scratch of the products of each lane, with room to align its start.
inline std::int64_t take_product_scratch(arena& space, executor_scratch const& scratch) {
  std::int64_t const start = space.take(scratch.lanes, scratch.product_bytes);
  if (scratch.product_bytes > 0) space.take(product_scratch_alignment);
  return start;
}

/// What training forward leaves for backward. States are indexed by time: a line that runs forward keeps the initial
/// state in slot 0 and the one after time t in slot t + 1; a reversed line keeps the initial one in slot `steps` and
/// the one after time t in slot t. Either way the outputs of all times are contiguous, and so are their predecessors.
struct reserve_layout {
  std::int64_t h;               ///< storage [lines, steps + 1, batch, hidden]
  state_offsets others{};       ///< state s at [s - 1]: state type [lines, steps + 1, batch, hidden]
  std::int64_t preactivations;  ///< storage [lines, steps, batch, gates, hidden]
  std::int64_t bytes;

  reserve_layout(extents const& e, cell_shape const& cell, element_sizes const& size) {
    arena space("reserve_bytes");
    h = space.take(e.lines(), e.steps + 1, e.batch, e.hidden, size.storage);
    for (int s = 1; s < cell.states; ++s)
      others[std::size_t(s - 1)] = space.take(e.lines(), e.steps + 1, e.batch, e.hidden, size.state);
    preactivations = space.take(e.lines(), e.steps, e.batch, cell.gates, e.hidden, size.storage);
    bytes = space.bytes();
  }
};

/// Scratch of a forward run.
struct forward_layout {
  std::int64_t concurrent_layers;
  std::int64_t input_products;      ///< accumulate [concurrent_layers, directions, steps, batch, input_gates, hidden]
  std::int64_t recurrent_products;  ///< accumulate [lines, batch, recurrent_gates, hidden]
  std::int64_t h = 0;               ///< inference: storage [lines, steps + 1, batch, hidden], slots as in the reserve
  state_offsets others{};           ///< inference: state type [lines, batch, hidden], updated in place
  std::int64_t elementwise_slots;   ///< accumulate [lanes, elementwise_slots, batch, hidden]
  std::int64_t product_scratch;     ///< [lanes, product_bytes] from the next multiple of product_scratch_alignment
  std::int64_t bytes;

  forward_layout(extents const& e, cell_shape const& cell, element_sizes const& size, bool inference,
                 std::int64_t concurrent, executor_scratch const& scratch)
      : concurrent_layers(std::clamp<std::int64_t>(concurrent, 1, e.layers)) {
    arena space("workspace_bytes");
    input_products =
        space.take(concurrent_layers, e.directions, e.steps, e.batch, cell.input_gates, e.hidden, size.accumulate);
    recurrent_products = space.take(e.lines(), e.batch, cell.recurrent_gates, e.hidden, size.accumulate);
    if (inference) {
      h = space.take(e.lines(), e.steps + 1, e.batch, e.hidden, size.storage);
      for (int s = 1; s < cell.states; ++s)
        others[std::size_t(s - 1)] = space.take(e.lines(), e.batch, e.hidden, size.state);
    }
    elementwise_slots = space.take(scratch.lanes, scratch.elementwise_slots, e.batch, e.hidden, size.accumulate);
    product_scratch = take_product_scratch(space, scratch);
    bytes = space.bytes();
  }
};

/// Scratch of a backward run. Gate gradients stay in it from the data pass to the weight pass; they are documented so
/// that per-sample gradients can be built on them.
struct backward_layout {
  std::int64_t input_gate_gradients;      ///< storage [lines, steps, batch, input_gates, hidden], rows as in W
  std::int64_t recurrent_gate_gradients;  ///< storage [lines, steps, batch, recurrent_gates, hidden], rows as in R;
                                          ///< the same block as the former where the cell's gates are all fed by both
  std::int64_t state_gradients;           ///< accumulate [lines, states, batch, hidden], carried from step to step
  std::int64_t recurrent_gradients;       ///< accumulate [lines, batch, hidden], gate gradients through R
  std::int64_t unit_gradients;            ///< accumulate [lines, unit_parameters, batch, hidden], summed over steps
  std::int64_t layer_gradients;    ///< storage [layers - 1, steps, batch, directions * hidden], dy of the layers below
  std::int64_t column_sums;        ///< accumulate [lanes, column_sum_rows, gates * hidden]
  std::int64_t elementwise_slots;  ///< accumulate [lanes, elementwise_slots, batch, hidden]
  std::int64_t product_scratch;    ///< [lanes, product_bytes] from the next multiple of product_scratch_alignment
  std::int64_t bytes;

  backward_layout(extents const& e, cell_shape const& cell, element_sizes const& size,
                  executor_scratch const& scratch) {
    arena space("workspace_bytes");
    input_gate_gradients = space.take(e.lines(), e.steps, e.batch, cell.input_gates, e.hidden, size.storage);
    recurrent_gate_gradients =
        cell.same_rows ? input_gate_gradients
                       : space.take(e.lines(), e.steps, e.batch, cell.recurrent_gates, e.hidden, size.storage);
    state_gradients = space.take(e.lines(), cell.states, e.batch, e.hidden, size.accumulate);
    recurrent_gradients = space.take(e.lines(), e.batch, e.hidden, size.accumulate);
    unit_gradients = space.take(e.lines(), cell.unit_parameters, e.batch, e.hidden, size.accumulate);
    layer_gradients = space.take(e.layers - 1, e.steps, e.batch, e.directions, e.hidden, size.storage);
    column_sums = space.take(scratch.lanes, scratch.column_sum_rows, cell.gates, e.hidden, size.accumulate);
    elementwise_slots = space.take(scratch.lanes, scratch.elementwise_slots, e.batch, e.hidden, size.accumulate);
    product_scratch = take_product_scratch(space, scratch);
    bytes = space.bytes();
  }
};

/// Transposed copies of every line's W and R, for schedules whose products read those.
struct packed_layout {
  packed_layout(extents const& e, cell_shape const& cell, element_sizes const& size) : lines_of_a_layer_(e.directions) {
    auto const bytes_of_line = [&](std::int64_t layer) {
      arena space("packed_bytes");
      space.take(e.input_of(layer), cell.input_gates, e.hidden, size.storage);
      recurrent_[layer] = space.take(e.hidden, cell.recurrent_gates, e.hidden, size.storage);
      return space.bytes();
    };
    first_line_ = bytes_of_line(0);
    other_line_ = e.layers > 1 ? bytes_of_line(1) : 0;
    bytes = checked_sum("packed_bytes", checked_product("packed_bytes", e.directions, first_line_),
                        checked_product("packed_bytes", e.lines() - e.directions, other_line_));
  }

  /// storage [inputs of the layer, input_gates * hidden]
  std::int64_t input(std::int64_t line) const {
    std::int64_t const first = (std::min)(line, lines_of_a_layer_);
    return first * first_line_ + (line - first) * other_line_;
  }
  /// storage [hidden, recurrent_gates * hidden]
  std::int64_t recurrent(std::int64_t line) const { return input(line) + recurrent_[line < lines_of_a_layer_ ? 0 : 1]; }

  std::int64_t bytes;

 private:
  std::int64_t lines_of_a_layer_;
  std::int64_t first_line_, other_line_;  ///< bytes of a line of the first layer, of another
  std::int64_t recurrent_[2];             ///< where R begins in each
};

/// All layouts of a network.
struct network_layouts {
  reserve_layout reserve;
  forward_layout inference;
  forward_layout training;
  backward_layout backward;

  network_layouts(extents const& e, cell_shape const& cell, element_sizes const& size, std::int64_t concurrent,
                  executor_scratch const& scratch)
      : reserve(e, cell, size),
        inference(e, cell, size, true, concurrent, scratch),
        training(e, cell, size, false, concurrent, scratch),
        backward(e, cell, size, scratch) {}

  std::size_t workspace_bytes(pass p) const {
    return static_cast<std::size_t>(p == pass::inference  ? inference.bytes
                                    : p == pass::training ? training.bytes
                                                          : backward.bytes);
  }
  std::size_t reserve_bytes() const { return static_cast<std::size_t>(reserve.bytes); }
};

}  // namespace detail
}  // namespace rnnopt

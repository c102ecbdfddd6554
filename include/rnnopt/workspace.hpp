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

/// Scratch of the products of each lane, with room to align its start.
inline std::int64_t take_product_scratch(arena& space, std::int64_t lanes, std::int64_t product_bytes) {
  std::int64_t const start = space.take(lanes, product_bytes);
  if (product_bytes > 0) space.take(product_scratch_alignment);
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
  std::int64_t product_scratch;     ///< [lanes, product_bytes] from the next multiple of product_scratch_alignment
  std::int64_t bytes;

  forward_layout(extents const& e, cell_shape const& cell, element_sizes const& size, bool inference,
                 std::int64_t concurrent, std::int64_t lanes, std::int64_t product_bytes)
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
    product_scratch = take_product_scratch(space, lanes, product_bytes);
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
  std::int64_t layer_gradients;  ///< storage [layers - 1, steps, batch, directions * hidden], dy of the layers below
  std::int64_t column_sums;      ///< accumulate [lanes, column_sum_rows, gates * hidden]
  std::int64_t product_scratch;  ///< [lanes, product_bytes] from the next multiple of product_scratch_alignment
  std::int64_t bytes;

  backward_layout(extents const& e, cell_shape const& cell, element_sizes const& size, std::int64_t lanes,
                  std::int64_t product_bytes, std::int64_t column_sum_rows) {
    arena space("workspace_bytes");
    input_gate_gradients = space.take(e.lines(), e.steps, e.batch, cell.input_gates, e.hidden, size.storage);
    recurrent_gate_gradients =
        cell.same_rows ? input_gate_gradients
                       : space.take(e.lines(), e.steps, e.batch, cell.recurrent_gates, e.hidden, size.storage);
    state_gradients = space.take(e.lines(), cell.states, e.batch, e.hidden, size.accumulate);
    recurrent_gradients = space.take(e.lines(), e.batch, e.hidden, size.accumulate);
    unit_gradients = space.take(e.lines(), cell.unit_parameters, e.batch, e.hidden, size.accumulate);
    layer_gradients = space.take(e.layers - 1, e.steps, e.batch, e.directions, e.hidden, size.storage);
    column_sums = space.take(lanes, column_sum_rows, cell.gates, e.hidden, size.accumulate);
    product_scratch = take_product_scratch(space, lanes, product_bytes);
    bytes = space.bytes();
  }
};

/// All layouts of a network.
struct network_layouts {
  reserve_layout reserve;
  forward_layout inference;
  forward_layout training;
  backward_layout backward;

  network_layouts(extents const& e, cell_shape const& cell, element_sizes const& size, std::int64_t concurrent,
                  std::int64_t lanes, std::int64_t product_bytes, std::int64_t column_sum_rows)
      : reserve(e, cell, size),
        inference(e, cell, size, true, concurrent, lanes, product_bytes),
        training(e, cell, size, false, concurrent, lanes, product_bytes),
        backward(e, cell, size, lanes, product_bytes, column_sum_rows) {}

  std::size_t workspace_bytes(pass p) const {
    return static_cast<std::size_t>(p == pass::inference  ? inference.bytes
                                    : p == pass::training ? training.bytes
                                                          : backward.bytes);
  }
  std::size_t reserve_bytes() const { return static_cast<std::size_t>(reserve.bytes); }
};

}  // namespace detail
}  // namespace rnnopt

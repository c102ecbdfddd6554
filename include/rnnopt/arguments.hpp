#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "rnnopt/cell.hpp"
#include "rnnopt/precision.hpp"
#include "rnnopt/weights.hpp"

/// What a run takes: plain pointers, the same for the GPU (device memory) and for the host executor (host memory).
/// Arrays of line_weights are read on the host during the call only. Buffers must not overlap, except that final states
/// may be written over initial ones and gradients of the initial states over those of the final ones.

namespace rnnopt {

/// @brief One pointer per state of the cell; each may be null.
template <class H, class Other, int States>
struct state_pointers {
  H* h = nullptr;  ///< state 0, [lines, batch, hidden]
  std::array<Other*, States - 1>
      others{};  ///< state s at others[s - 1], [lines, batch, hidden]; c of an LSTM is others[0]
};

/// @brief Caller-owned scratch memory, 16-byte aligned.
struct memory {
  void* data = nullptr;
  std::size_t bytes = 0;
};

/// @brief Caller-owned memory that is only read.
struct const_memory {
  void const* data = nullptr;
  std::size_t bytes = 0;

  const_memory() = default;
  const_memory(void const* d, std::size_t b) : data(d), bytes(b) {}
  const_memory(memory const& m) : data(m.data), bytes(m.bytes) {}
};

/// @brief Whether weight gradients replace what their buffers hold or are added to it.
enum class gradient_mode { overwrite, accumulate };

/// @brief Arguments of a forward run.
template <class Cell, class Precision>
struct forward_arguments {
  using storage = typename Precision::storage;
  using state = typename Precision::state;

  storage const* x = nullptr;                                        ///< [steps, batch, input]
  line_weights<storage const> const* weights = nullptr;              ///< host array of `lines` entries
  state_pointers<storage const, state const, Cell::states> initial;  ///< null: zeros
  storage* y = nullptr;                                ///< [steps, batch, directions * hidden]; null: not wanted
  state_pointers<storage, state, Cell::states> final;  ///< states after the last step; null: not wanted
  std::int32_t const* lengths = nullptr;               ///< [batch], steps of each row, 0 allowed; null: all `steps`
  const_memory packed;                                 ///< what pack() made of the weights; only if packed_bytes() > 0
  memory workspace;                                    ///< at least workspace_bytes of the pass
  memory reserve;                                      ///< training only: at least reserve_bytes
};

/// @brief Arguments of a backward run, of its data pass and of its weight pass alike.
///
/// The weight pass reads gate gradients that the data pass left in the workspace: give both the same workspace.
template <class Cell, class Precision>
struct backward_arguments {
  using storage = typename Precision::storage;
  using state = typename Precision::state;
  using accumulate = typename Precision::accumulate;

  storage const* x = nullptr;                            ///< as in forward; needed for the gradient of W only
  line_weights<storage const> const* weights = nullptr;  ///< as in forward
  const_memory packed;                                   ///< as in forward
  std::int32_t const* lengths = nullptr;                 ///< as in forward
  storage const* dy = nullptr;                           ///< [steps, batch, directions * hidden]; null: zeros
  state_pointers<storage const, state const, Cell::states> final_gradient;  ///< null: zeros
  storage* dx = nullptr;                                                    ///< [steps, batch, input]; null: not wanted
  state_pointers<storage, state, Cell::states> initial_gradient;            ///< null: not wanted
  line_weights<accumulate> const* gradients =
      nullptr;  ///< host array of `lines` entries; null, as any pointer in it: not wanted
  gradient_mode mode = gradient_mode::overwrite;  ///< of `gradients`
  memory workspace;                               ///< at least workspace_bytes(pass::backward)
  const_memory reserve;                           ///< as the training forward left it; never written
};

}  // namespace rnnopt

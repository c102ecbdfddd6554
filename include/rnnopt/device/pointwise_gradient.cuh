#pragma once

#include <cstdint>

#include "rnnopt/device/pointwise.cuh"

/// Backward of the cell of one layer at one time: one thread per (row, unit), as in pointwise.cuh.
///
/// Activations are recomputed from the saved pre-activations; the gradients of the states stay in one buffer that each
/// step updates in place, the gradient that came through R is added where it is read.

namespace rnnopt::detail {

template <class Cell, class Precision>
struct pointwise_gradient_arguments {
  using storage = typename Precision::storage;
  using accumulate = typename Precision::accumulate;
  using state = typename Precision::state;
  static constexpr int others = Cell::states > 1 ? Cell::states - 1 : 1;
  static constexpr int unit_parameters =
      cell_traits<Cell>::unit_parameters > 0 ? cell_traits<Cell>::unit_parameters : 1;

  storage const* saved;                   ///< pre-activations [batch, gates, hidden]
  storage const* h_before;                ///< [batch, hidden]
  state const* before[others];            ///< [batch, hidden] each
  storage const* units;                   ///< [unit_parameters, hidden]
  storage const* dy;                      ///< rows of dy_row elements, or null
  accumulate const* recurrent_gradients;  ///< [batch, hidden], or null at the last step
  accumulate* state_gradients;            ///< [states, batch, hidden]
  accumulate* unit_gradients;             ///< [unit_parameters, batch, hidden]
  storage* input_gate_gradients;          ///< [batch, input_gates, hidden]
  storage* recurrent_gate_gradients;      ///< [batch, recurrent_gates, hidden]; ignored where it is the former
  std::int64_t dy_row;
  std::int32_t batch;
  std::int32_t hidden;
  std::uint32_t tiles;
  bool first;  ///< unit_gradients hold nothing yet
};

/// What the gradient of the cell of one unit reads, but for the gradient through R.
template <class Cell, class Precision>
struct pointwise_gradient_operands {
  using accumulate = typename Precision::accumulate;
  unit_inputs<Cell, accumulate> in;
  accumulate next[cell_traits<Cell>::states];  ///< gradients of the next states
  accumulate dy;

  /// Reads what forward, or another layer, has written.
  __device__ void load_saved(pointwise_gradient_arguments<Cell, Precision> const& a, std::int64_t row,
                             std::int64_t unit) {
    using traits = cell_traits<Cell>;
    std::int64_t const hidden = a.hidden, at = row * hidden + unit;
    dy = a.dy != nullptr ? static_cast<accumulate>(a.dy[row * a.dy_row + unit]) : accumulate(0);
#pragma unroll
    for (int g = 0; g < traits::gate_count; ++g)
      in.gates[g] = static_cast<accumulate>(a.saved[(row * traits::gate_count + g) * hidden + unit]);
    in.states[0] = static_cast<accumulate>(a.h_before[at]);
#pragma unroll
    for (int s = 1; s < traits::states; ++s) in.states[s] = static_cast<accumulate>(a.before[s - 1][at]);
#pragma unroll
    for (int u = 0; u < traits::unit_parameters; ++u) in.units[u] = static_cast<accumulate>(a.units[u * hidden + unit]);
  }
  /// Reads what the following step has written.
  __device__ void load_carried(pointwise_gradient_arguments<Cell, Precision> const& a, std::int64_t row,
                               std::int64_t unit) {
    std::int64_t const at = row * a.hidden + unit, plane = std::int64_t(a.batch) * a.hidden;
#pragma unroll
    for (int s = 0; s < cell_traits<Cell>::states; ++s) next[s] = a.state_gradients[s * plane + at];
  }
};

/// Runs the cell's gradient of one unit and writes its results; `through_r` is the gradient of h that came through R.
template <class Cell, class Precision>
__device__ void finish_pointwise_gradient(pointwise_gradient_arguments<Cell, Precision> const& a, std::int64_t row,
                                          std::int64_t unit, pointwise_gradient_operands<Cell, Precision>& operands,
                                          typename Precision::accumulate through_r) {
  using traits = cell_traits<Cell>;
  using gates = typename traits::gates;
  using storage = typename Precision::storage;
  using accumulate = typename Precision::accumulate;
  std::int64_t const hidden = a.hidden, at = row * hidden + unit, plane = std::int64_t(a.batch) * hidden;
  operands.next[0] += through_r;
  operands.next[0] += operands.dy;

  unit_gradients<Cell, accumulate> out;
  device_backward<Cell, accumulate>(operands.in, operands.next, out);

  for_each_index<traits::gate_count>([&](auto g) {
    constexpr int input = gates::input_block(int(g.value)), recurrent = gates::recurrent_block(int(g.value));
    storage const rounded = static_cast<storage>(out.gates[g.value]);
    if constexpr (input >= 0) a.input_gate_gradients[(row * gates::input_count + input) * hidden + unit] = rounded;
    if constexpr (!gates::same_rows && recurrent >= 0)
      a.recurrent_gate_gradients[(row * gates::recurrent_count + recurrent) * hidden + unit] = rounded;
  });
#pragma unroll
  for (int s = 0; s < traits::states; ++s) a.state_gradients[s * plane + at] = out.states[s];
#pragma unroll
  for (int u = 0; u < traits::unit_parameters; ++u) {
    accumulate const sum = a.first ? out.units[u] : a.unit_gradients[u * plane + at] + out.units[u];
    a.unit_gradients[u * plane + at] = sum;
  }
}

template <class Cell, class Precision>
__global__ void __launch_bounds__(128)
    pointwise_gradient_kernel(pointwise_gradient_arguments<Cell, Precision> const a) {
  wait_for_previous_kernels();
  std::int64_t const unit = std::int64_t(blockIdx.x % a.tiles) * blockDim.x + threadIdx.x;
  std::int64_t const row = std::int64_t(blockIdx.x / a.tiles) * blockDim.y + threadIdx.y;
  if (row >= a.batch || unit >= a.hidden) return;
  pointwise_gradient_operands<Cell, Precision> operands;
  operands.load_saved(a, row, unit);
  operands.load_carried(a, row, unit);
  finish_pointwise_gradient(a, row, unit, operands,
                            a.recurrent_gradients != nullptr ? a.recurrent_gradients[row * a.hidden + unit] : 0);
}

/// `early`: the kernel may begin while the one before it on the stream runs; it waits before it reads anything.
template <class Cell, class Precision>
void launch_pointwise_gradient(cudaStream_t stream, pointwise_gradient_arguments<Cell, Precision> a, bool early) {
  pointwise_grid const g(a.batch, a.hidden);
  a.tiles = g.tiles;
  launch_shape shape;
  shape.grid = g.grid;
  shape.block = g.block;
  shape.early = early;
  launch_kernel(stream, pointwise_gradient_kernel<Cell, Precision>, shape, a, "launching pointwise_gradient");
}

}  // namespace rnnopt::detail

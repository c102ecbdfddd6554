#pragma once

#include <cstdint>

#include "rnnopt/device/cell.cuh"
#include "rnnopt/device/dependent_launch.cuh"
#include "rnnopt/precision.hpp"

/// The cell of one layer at one time: one thread per (row, unit), units fastest, so that every access is coalesced.
///
/// Cost: reads input_gates + recurrent_gates sums (accumulate type) and the states, writes the states and, for
/// training, `gates` pre-activations (storage type) per unit. At the sizes of one step all of it sits in L2 and the
/// launch itself is most of the time.

namespace rnnopt::detail {

/// Blocks of 128 threads that cover [rows, hidden]: as many whole rows a block as fit, grid in x only.
struct pointwise_grid {
  dim3 block;
  dim3 grid;
  unsigned tiles;  ///< blocks per row

  pointwise_grid(std::int64_t rows, std::int64_t hidden) {
    unsigned const width = hidden > 64 ? 128 : hidden > 32 ? 64 : 32;
    unsigned const height = 128 / width;
    tiles = unsigned((hidden + width - 1) / width);
    block = dim3(width, height);
    grid = dim3(unsigned(((rows + height - 1) / height) * tiles));
  }
};

template <class Cell, class Precision>
struct pointwise_arguments {
  using storage = typename Precision::storage;
  using accumulate = typename Precision::accumulate;
  using state = typename Precision::state;
  static constexpr int others = Cell::states > 1 ? Cell::states - 1 : 1;

  accumulate const* input_products;      ///< [batch, input_gates, hidden]
  accumulate const* recurrent_products;  ///< [batch, recurrent_gates, hidden]
  storage const* bias;                   ///< [gates, hidden] or null
  storage const* units;                  ///< [unit_parameters, hidden]
  storage const* h_before;               ///< [batch, hidden]
  storage* h_after;                      ///< [batch, hidden]
  state const* before[others];           ///< [batch, hidden] each
  state* after[others];                  ///< [batch, hidden] each; may be `before`
  storage* y;                            ///< rows of y_row elements, or null
  storage* saved;                        ///< pre-activations [batch, gates, hidden], or null
  std::int64_t y_row;
  std::int32_t batch;
  std::int32_t hidden;
  std::uint32_t tiles;
};

/// What the cell of one unit reads, but for R h.
template <class Cell, class Precision>
struct pointwise_operands {
  unit_inputs<Cell, typename Precision::accumulate> in;  ///< gates: W x + bias

  /// Reads nothing that a step writes: a fused kernel calls it before it waits (step_cells.cuh).
  __device__ void load_input(pointwise_arguments<Cell, Precision> const& a, std::int64_t row, std::int64_t unit) {
    using gates = typename cell_traits<Cell>::gates;
    using accumulate = typename Precision::accumulate;
    std::int64_t const hidden = a.hidden;
    for_each_index<gates::count>([&](auto g) {
      constexpr int gate = int(g.value), block = gates::input_block(gate);
      accumulate sum = 0;
      if constexpr (block >= 0) sum += a.input_products[(row * gates::input_count + block) * hidden + unit];
      if (a.bias != nullptr) sum += static_cast<accumulate>(a.bias[gate * hidden + unit]);
      in.gates[gate] = sum;
    });
#pragma unroll
    for (int u = 0; u < cell_traits<Cell>::unit_parameters; ++u)
      in.units[u] = static_cast<accumulate>(a.units[u * hidden + unit]);
  }
  /// Reads what the step before has written.
  __device__ void load_states(pointwise_arguments<Cell, Precision> const& a, std::int64_t row, std::int64_t unit) {
    using accumulate = typename Precision::accumulate;
    std::int64_t const at = row * a.hidden + unit;
    in.states[0] = static_cast<accumulate>(a.h_before[at]);
#pragma unroll
    for (int s = 1; s < cell_traits<Cell>::states; ++s) in.states[s] = static_cast<accumulate>(a.before[s - 1][at]);
  }
};

/// Runs the cell of one unit and writes its results; `recurrent(block)` is R h of a row block.
template <class Cell, class Precision, class Recurrent>
__device__ void finish_pointwise(pointwise_arguments<Cell, Precision> const& a, std::int64_t row, std::int64_t unit,
                                 pointwise_operands<Cell, Precision>& operands, Recurrent const& recurrent) {
  using traits = cell_traits<Cell>;
  using gates = typename traits::gates;
  using storage = typename Precision::storage;
  using accumulate = typename Precision::accumulate;
  using state = typename Precision::state;
  std::int64_t const hidden = a.hidden, at = row * hidden + unit;
  unit_inputs<Cell, accumulate>& in = operands.in;
  for_each_index<traits::gate_count>([&](auto g) {
    constexpr int block = gates::recurrent_block(int(g.value));
    if constexpr (block >= 0) in.gates[g.value] += recurrent(block);
  });

  accumulate next[traits::states];
  device_step<Cell>(in, next);

  storage const h = static_cast<storage>(next[0]);
  a.h_after[at] = h;
  if (a.y != nullptr) a.y[row * a.y_row + unit] = h;
#pragma unroll
  for (int s = 1; s < traits::states; ++s) a.after[s - 1][at] = static_cast<state>(next[s]);
  if (a.saved != nullptr) {
#pragma unroll
    for (int g = 0; g < traits::gate_count; ++g)
      a.saved[(row * traits::gate_count + g) * hidden + unit] = saturate<storage>(in.gates[g]);
  }
}

template <class Cell, class Precision>
__global__ void __launch_bounds__(128) pointwise_kernel(pointwise_arguments<Cell, Precision> const a) {
  wait_for_previous_kernels();
  std::int64_t const unit = std::int64_t(blockIdx.x % a.tiles) * blockDim.x + threadIdx.x;
  std::int64_t const row = std::int64_t(blockIdx.x / a.tiles) * blockDim.y + threadIdx.y;
  if (row >= a.batch || unit >= a.hidden) return;
  pointwise_operands<Cell, Precision> operands;
  operands.load_input(a, row, unit);
  operands.load_states(a, row, unit);
  finish_pointwise(a, row, unit, operands, [&](int block) {
    return a.recurrent_products[(row * cell_traits<Cell>::gates::recurrent_count + block) * a.hidden + unit];
  });
}

/// `early`: the kernel may begin while the one before it on the stream runs; it waits before it reads anything.
template <class Cell, class Precision>
void launch_pointwise(cudaStream_t stream, pointwise_arguments<Cell, Precision> a, bool early) {
  pointwise_grid const g(a.batch, a.hidden);
  a.tiles = g.tiles;
  launch_shape shape;
  shape.grid = g.grid;
  shape.block = g.block;
  shape.early = early;
  launch_kernel(stream, pointwise_kernel<Cell, Precision>, shape, a, "launching pointwise");
}

}  // namespace rnnopt::detail

#pragma once

#include <cstdint>

#include "rnnopt/device/cell.cuh"
#include "rnnopt/device/cuda_error.cuh"
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

template <class Cell, class Precision>
__global__ void __launch_bounds__(128) pointwise_kernel(pointwise_arguments<Cell, Precision> const a) {
  using traits = cell_traits<Cell>;
  using gates = typename traits::gates;
  using storage = typename Precision::storage;
  using accumulate = typename Precision::accumulate;
  using state = typename Precision::state;
  std::int64_t const unit = std::int64_t(blockIdx.x % a.tiles) * blockDim.x + threadIdx.x;
  std::int64_t const row = std::int64_t(blockIdx.x / a.tiles) * blockDim.y + threadIdx.y;
  if (row >= a.batch || unit >= a.hidden) return;
  std::int64_t const hidden = a.hidden, at = row * hidden + unit;

  unit_inputs<Cell, accumulate> in;
#pragma unroll
  for (int g = 0; g < traits::gate_count; ++g) {
    accumulate sum = 0;
    if (int const block = gates::input_block(g); block >= 0)
      sum += a.input_products[(row * gates::input_count + block) * hidden + unit];
    if (int const block = gates::recurrent_block(g); block >= 0)
      sum += a.recurrent_products[(row * gates::recurrent_count + block) * hidden + unit];
    if (a.bias != nullptr) sum += static_cast<accumulate>(a.bias[g * hidden + unit]);
    in.gates[g] = sum;
  }
  in.states[0] = static_cast<accumulate>(a.h_before[at]);
#pragma unroll
  for (int s = 1; s < traits::states; ++s) in.states[s] = static_cast<accumulate>(a.before[s - 1][at]);
#pragma unroll
  for (int u = 0; u < traits::unit_parameters; ++u) in.units[u] = static_cast<accumulate>(a.units[u * hidden + unit]);

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
void launch_pointwise(cudaStream_t stream, pointwise_arguments<Cell, Precision> a) {
  pointwise_grid const g(a.batch, a.hidden);
  a.tiles = g.tiles;
  pointwise_kernel<Cell, Precision><<<g.grid, g.block, 0, stream>>>(a);
  require_success(cudaGetLastError(), "launching pointwise");
}

}  // namespace rnnopt::detail

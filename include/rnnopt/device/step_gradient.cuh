#pragma once

#include <cstdint>

#include "rnnopt/device/pointwise_gradient.cuh"
#include "rnnopt/device/step.cuh"

/// The following step's gate gradients through R and the gradient of the cell in one kernel; laid out as step.cuh.
///
/// Here k is long (recurrent_gates * hidden) and the result narrow (hidden), so the blocks of a cluster share a tile.

namespace rnnopt::detail {

template <class Cell, class Precision>
struct step_gradient_arguments {
  step_operands product;                               ///< left: gate gradients of the following step, right: R
  pointwise_gradient_arguments<Cell, Precision> cell;  ///< recurrent_gradients is not looked at
};

template <class Cell, class Precision>
struct step_gradient_cells {
  using operands = pointwise_gradient_operands<Cell, Precision>;
  pointwise_gradient_arguments<Cell, Precision> const& a;

  __device__ void prefetch(int row, int unit) const {
    using traits = cell_traits<Cell>;
    std::int64_t const hidden = a.hidden, at = row * hidden + unit;
#pragma unroll
    for (int g = 0; g < traits::gate_count; ++g)
      prefetch_line(a.saved + (std::int64_t(row) * traits::gate_count + g) * hidden + unit);
    prefetch_line(a.h_before + at);
#pragma unroll
    for (int s = 1; s < traits::states; ++s) prefetch_line(a.before[s - 1] + at);
  }
  __device__ void load_early(operands& to, int row, int unit) const { to.load_saved(a, row, unit); }
  __device__ void load_late(operands& to, int row, int unit) const { to.load_carried(a, row, unit); }
  template <class Sum>
  __device__ void finish(operands& in, int row, int unit, Sum const& sum) const {
    finish_pointwise_gradient(a, row, unit, in, sum(0));
  }
};

template <class Cell, class Precision, class Tile>
__global__ void __launch_bounds__(Tile::threads)
    step_gradient_kernel(step_gradient_arguments<Cell, Precision> const __grid_constant__ a) {
  extern __shared__ unsigned char step_shared[];
  step_block<Tile> block(a.product, step_shared);
  block.begin();
  if (block.copies()) block.copy();
  else run_cells(block, step_gradient_cells<Cell, Precision>{a.cell});
}

}  // namespace rnnopt::detail

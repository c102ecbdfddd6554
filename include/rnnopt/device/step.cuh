#pragma once

#include <cstdint>

#include "rnnopt/device/pointwise.cuh"
#include "rnnopt/device/step_cells.cuh"

/// Recurrent product and cell of one step in one kernel (past Appleyard et al. 2016, whose step is two).
///
/// A block computes the gates of `units` units for `rows` rows of the batch and runs their cells; h, the only thing
/// that another block reads, goes through L2 to the next step's kernel. That one is launched while this one runs, has
/// its weights and input products loaded by the time it may read h, and reads nothing else that this one writes before.

namespace rnnopt::detail {

template <class Cell, class Precision>
struct step_arguments {
  step_operands product;                      ///< left: h before, right: R
  pointwise_arguments<Cell, Precision> cell;  ///< recurrent_products is not looked at
};

template <class Cell, class Precision>
struct step_cells {
  using operands = pointwise_operands<Cell, Precision>;
  pointwise_arguments<Cell, Precision> const& a;

  __device__ void prefetch(int row, int unit) const {
    using gates = typename cell_traits<Cell>::gates;
    std::int64_t const hidden = a.hidden;
#pragma unroll
    for (int g = 0; g < gates::input_count; ++g)
      prefetch_line(a.input_products + (std::int64_t(row) * gates::input_count + g) * hidden + unit);
  }
  __device__ void load_early(operands& to, int row, int unit) const { to.load_input(a, row, unit); }
  __device__ void load_late(operands& to, int row, int unit) const { to.load_states(a, row, unit); }
  template <class Sum>
  __device__ void finish(operands& in, int row, int unit, Sum const& sum) const {
    finish_pointwise(a, row, unit, in, sum);
  }
};

template <class Cell, class Precision, class Tile>
__global__ void __launch_bounds__(Tile::threads)
    step_kernel(step_arguments<Cell, Precision> const __grid_constant__ a) {
  extern __shared__ unsigned char step_shared[];
  step_block<Tile> block(a.product, step_shared);
  block.begin();
  if (block.copies()) block.copy();
  else run_cells(block, step_cells<Cell, Precision>{a.cell});
}

}  // namespace rnnopt::detail

#pragma once

#include "rnnopt/device/step_product.cuh"

/// The cells of a fused step: what the multiplying threads do before and after the product.

namespace rnnopt::detail {

/// Pairs of (row, unit) whose operands a thread has on their way while it finishes others.
inline constexpr int pairs_ahead = 2;

/// What the multiplying threads of a step's kernel do: `Work` loads the operands of a pair's cell in two parts, of
/// which the first may be read before the kernels before have ended, and finishes it with the sums of the product.
///
///   operands                             what is loaded
///   prefetch(row, unit)                  asks for the first part
///   load_early(operands, row, unit), load_late(operands, row, unit)
///   finish(operands, row, unit, sum_of_block)
template <class Tile, class Work>
__device__ void run_cells(step_block<Tile>& block, Work const& work) {
  using operands_type = typename Work::operands;
  constexpr int apart = Tile::multiplying, group = pairs_ahead * apart;
  operands_type operands[pairs_ahead];
  int pair = int(threadIdx.x);
  auto const each = [&](int first, auto const& function) {
#pragma unroll
    for (int i = 0; i < pairs_ahead; ++i)
      if (int const p = first + i * apart; block.inside(p)) function(i, block.row(p), block.unit(p), p);
  };
  each(pair, [&](int i, int row, int unit, int) { work.load_early(operands[i], row, unit); });
  for (int p = pair + group; p < block.pairs(); p += apart)
    if (block.inside(p)) work.prefetch(block.row(p), block.unit(p));
  wait_for_previous_kernels();
  each(pair, [&](int i, int row, int unit, int) { work.load_late(operands[i], row, unit); });
  block.multiply();
  auto const finish = [&](operands_type& in, int row, int unit, int p) {
    work.finish(in, row, unit, [&](int gate) { return block.sum(p, gate); });
  };
  each(pair, [&](int i, int row, int unit, int p) { finish(operands[i], row, unit, p); });
#pragma unroll 1
  for (pair += group; pair < block.pairs(); pair += group) {
    each(pair, [&](int i, int row, int unit, int) {
      work.load_early(operands[i], row, unit);
      work.load_late(operands[i], row, unit);
    });
    each(pair, [&](int i, int row, int unit, int p) { finish(operands[i], row, unit, p); });
  }
}

}  // namespace rnnopt::detail

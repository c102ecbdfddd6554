#pragma once

#include <algorithm>
#include <cstdint>

#include "rnnopt/device/step_product.cuh"

/// How the kernel of a step is launched: the compiled kernels told apart by numbers, and the part of their arguments
/// that describes the product.

namespace rnnopt::detail {

/// A compiled kernel of a step and the shape of its tile.
template <class Arguments>
struct step_variant {
  void (*kernel)(Arguments);
  int rows, units, blocks;
  weight_rows order;
  int threads;
  int stages, stage_boxes, stage_bytes;
  int barrier_bytes, sum_bytes, received_bytes;
};

template <class Arguments, class Tile>
step_variant<Arguments> variant_of(void (*kernel)(Arguments)) {
  step_variant<Arguments> v{};
  v.kernel = kernel;
  v.rows = Tile::rows;
  v.units = Tile::units;
  v.blocks = Tile::blocks;
  v.order = Tile::order;
  v.threads = Tile::threads;
  v.stages = Tile::stages;
  v.stage_boxes = Tile::stage_boxes;
  v.stage_bytes = Tile::stage_bytes;
  v.barrier_bytes = Tile::barrier_bytes;
  v.sum_bytes = Tile::sum_bytes;
  v.received_bytes = Tile::received_bytes;
  return v;
}

/// How one step is launched.
template <class Arguments>
struct step_launch {
  step_variant<Arguments> variant{};
  int cluster = 1;
  int stages = 0;   ///< that a block has room for
  double time = 0;  ///< microseconds modelled or milliseconds of a rehearsal, to choose by

  /// Columns of the tile.
  int columns() const { return variant.units * variant.blocks; }
  bool splits() const { return cluster > 1; }
  /// Tiles side by side over `hidden` units.
  int tiles_across(std::int64_t hidden) const { return int((hidden + variant.units - 1) / variant.units); }
  std::int64_t blocks(std::int64_t rows, std::int64_t hidden) const {
    return (rows + variant.rows - 1) / variant.rows * tiles_across(hidden) * cluster;
  }
  /// Bytes for the stages that `boxes` boxes of k fill, and for the sums that take their place: no more than needed, so
  /// that the blocks of other lanes and of the next step have room beside.
  int stage_area(int boxes) const {
    int const filled = (boxes + variant.stage_boxes - 1) / variant.stage_boxes;
    return (std::max)((std::min)(filled, stages) * variant.stage_bytes, variant.sum_bytes);
  }
  /// Room to align it to 1024 bytes included.
  int shared_bytes(int area) const {
    return 1024 + variant.barrier_bytes + area + (splits() ? variant.received_bytes : 0);
  }
};

/// Lets a kernel have all the shared memory that it may be launched with; whether the device has as much.
template <class Arguments>
bool allow_shared_memory(step_variant<Arguments> const& v) {
  char const* const where = "planning a step";
  int device = 0, most = 0;
  require_success(cudaGetDevice(&device), where);
  require_success(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), where);
  step_launch<Arguments> largest{v, 2, v.stages};
  int const bytes = largest.shared_bytes(largest.stage_area(v.stages * v.stage_boxes));
  if (bytes > most) return false;
  require_success(
      cudaFuncSetAttribute(reinterpret_cast<void const*>(v.kernel), cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
      where);
  return true;
}

/// The product's part of the arguments. `left` [rows, k]; `right` as the variant's order says.
template <class T, class Arguments>
step_operands describe_step(step_launch<Arguments> const& l, T const* left, T const* right, std::int64_t rows,
                            std::int64_t hidden, std::int64_t k) {
  step_operands o{};
  std::uint32_t const box = box_k<T>;
  o.left = describe_boxes<2>(left, map_type<T>(), int(sizeof(T)), {std::uint64_t(k), std::uint64_t(rows)},
                             {box, std::uint32_t(l.variant.rows)});
  if (l.variant.order == weight_rows::along_k) {
    o.right = describe_boxes<3>(right, map_type<T>(), int(sizeof(T)),
                                {std::uint64_t(k), std::uint64_t(hidden), std::uint64_t(l.variant.blocks)},
                                {box, std::uint32_t(l.variant.units), std::uint32_t(l.variant.blocks)});
  } else {
    std::uint32_t const units = std::uint32_t((std::min)(l.variant.units, 8 * chunk_elements<T>));
    o.right = describe_boxes<2>(right, map_type<T>(), int(sizeof(T)), {std::uint64_t(hidden), std::uint64_t(k)},
                                {units, box});
  }
  o.rows = std::int32_t(rows);
  o.hidden = std::int32_t(hidden);
  o.boxes = std::int32_t((k + box_k<T> - 1) / box_k<T>);
  o.cluster_boxes = (o.boxes + l.cluster - 1) / l.cluster;
  o.tiles_across = l.tiles_across(hidden);
  o.stages = l.stages;
  o.stage_area = l.stage_area(o.cluster_boxes);
  o.cluster = l.cluster;
  o.cluster_shift = l.cluster == 8 ? 3 : l.cluster / 2;
  return o;
}

/// Grid, block, shared memory and cluster of a launch.
template <class Arguments>
launch_shape shape_of_launch(step_launch<Arguments> const& l, std::int64_t blocks, int stage_area) {
  launch_shape shape;
  shape.grid = dim3(unsigned(blocks));
  shape.block = dim3(unsigned(l.variant.threads));
  shape.shared_bytes = l.shared_bytes(stage_area);
  shape.cluster = l.cluster;
  return shape;
}

/// Whether the device has room for a cluster of such blocks, which a smaller one or a part of one may not have.
template <class Arguments>
bool can_be_resident(step_launch<Arguments> const& l, std::int64_t boxes) {
  int const area = l.stage_area(int((boxes + l.cluster - 1) / l.cluster));
  return resident_clusters(l.variant.kernel, shape_of_launch(l, l.cluster, area), "planning a step") > 0;
}

/// Enqueues a step's kernel. `follows_step`: the kernel before on this stream is the step before of the same line, so
/// that this one may begin while it runs.
template <class Arguments>
void launch_step(cudaStream_t stream, step_launch<Arguments> const& l, Arguments const& a, bool follows_step,
                 char const* where) {
  launch_shape shape = shape_of_launch(l, l.blocks(a.product.rows, a.product.hidden), a.product.stage_area);
  shape.early = follows_step;
  launch_kernel(stream, l.variant.kernel, shape, a, where);
}

}  // namespace rnnopt::detail

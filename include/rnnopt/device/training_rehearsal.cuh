#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rnnopt/arguments.hpp"
#include "rnnopt/device/chain_timer.cuh"
#include "rnnopt/extents.hpp"
#include "rnnopt/weights.hpp"
#include "rnnopt/workspace.hpp"

namespace rnnopt::detail {

/// Milliseconds of forward_training and backward of a planned network, captured, with every gradient wanted. Runs on
/// zeros, in memory of its own for as long as it takes; not for networks of no rows or steps.
///
/// @tparam Network  an rnn, of any schedule
template <class Network>
double rehearse_training(Network const& network) {
  using precision = typename Network::precision;
  using storage = typename precision::storage;
  using accumulate = typename precision::accumulate;
  char const* const where = "rehearsing a training pass";
  extents const& e = network.network_extents();
  chain_timer const timer(1);
  std::vector<owned_memory> blocks;
  auto const zeros = [&](std::size_t bytes) {
    if (bytes == 0) return memory{};
    blocks.push_back(allocate(bytes, where));
    require_success(cudaMemsetAsync(blocks.back().get(), 0, bytes, timer.stream()), where);
    return memory{blocks.back().get(), bytes};
  };
  auto const array_of = [&](auto element, std::int64_t count) {
    using type = decltype(element);
    return static_cast<type*>(zeros(std::size_t(count) * sizeof(type)).data);
  };
  weight_layout<typename Network::cell> const layout(e);
  auto const weights = layout.template bind<storage const>(array_of(storage(), layout.size()));
  auto const gradients = layout.template bind<accumulate>(array_of(accumulate(), layout.size()));
  std::int64_t const rows = e.steps * e.batch;

  typename Network::forward_arguments f;
  f.x = array_of(storage(), rows * e.input);
  f.weights = weights.data();
  f.packed = zeros(network.packed_bytes());
  f.y = array_of(storage(), rows * e.directions * e.hidden);
  f.workspace = zeros((std::max)(network.workspace_bytes(pass::training), network.workspace_bytes(pass::backward)));
  f.reserve = zeros(network.reserve_bytes());
  typename Network::backward_arguments b;
  b.x = f.x;
  b.weights = f.weights;
  b.packed = f.packed;
  b.dy = array_of(storage(), rows * e.directions * e.hidden);
  b.dx = array_of(storage(), rows * e.input);
  b.gradients = gradients.data();
  b.workspace = f.workspace;
  b.reserve = f.reserve;
  return timer.time([&](cudaStream_t stream, int) {
    network.forward_training(stream, f);
    network.backward(stream, b);
    return true;
  });
}

}  // namespace rnnopt::detail

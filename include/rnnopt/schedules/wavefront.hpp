#pragma once

#include <algorithm>

#include "rnnopt/schedule.hpp"

namespace rnnopt::schedules {

/// @brief Layers run at the same time, each on a lane of its own, a few steps behind the layer below.
///
/// The diagonals of layers x time of Appleyard et al. 2016, section 2.2.3, in chunks: a layer hands on `ChunkSteps`
/// steps at once, so that their input products are one product. Backward is mirrored; the weight gradients of a layer
/// start when its own sweep is done. With both directions a layer needs the whole sequence below it, so only the two
/// directions of a layer run at the same time.
///
/// Cost: (steps + (layers - 1) * ChunkSteps) times a step, as long as the GPU has room for `layers` steps at once.
template <int ChunkSteps = 8>
struct wavefront {
  static_assert(ChunkSteps > 0, "rnnopt: wavefront hands on no steps; write wavefront<8>");

  static std::int64_t concurrent_layers(network const& n) { return n.layers; }

  template <class Sink>
  static void forward(network const& n, Sink& sink) {
    plan const p(n);
    // Diagonal after diagonal: what a lane waits for has been emitted, and no lane is emitted far ahead of the others.
    for (std::int64_t diagonal = 0; diagonal < p.chunks + n.layers - 1; ++diagonal)
      for (std::int64_t layer = 0; layer < n.layers; ++layer) {
        std::int64_t const chunk = diagonal - layer;
        if (chunk < 0 || chunk >= p.chunks) continue;
        for (std::int64_t direction = 0; direction < n.directions; ++direction) {
          line const l{layer, direction};
          int const lane = p.lane(l);
          if (layer > 0)
            for (std::int64_t below = 0; below < n.directions; ++below)
              sink.wait(lane, p.event({layer - 1, below}, chunk));
          sink.input_product(lane, l, p.first(chunk), p.steps(chunk));
          for (std::int64_t step = p.first(chunk); step < p.first(chunk) + p.steps(chunk); ++step) {
            sink.recurrent_product(lane, l, step);
            sink.pointwise(lane, l, step);
          }
          if (layer + 1 < n.layers) sink.signal(lane, p.event(l, chunk));
        }
      }
  }

  template <class Sink>
  static void backward(network const& n, gradient_request wanted, Sink& sink) {
    plan const p(n);
    std::int64_t const diagonals = wanted.data ? p.chunks + n.layers - 1 : 0;
    for (std::int64_t diagonal = 0; diagonal < diagonals; ++diagonal)
      for (std::int64_t layer = n.layers - 1; layer >= 0; --layer) {
        std::int64_t const chunk = p.chunks - 1 - (diagonal - (n.layers - 1 - layer));
        if (chunk < 0 || chunk >= p.chunks) continue;
        for (std::int64_t direction = 0; direction < n.directions; ++direction)
          backward_chunk(p, n, {layer, direction}, chunk, sink);
        if (chunk == 0 && wanted.weights) weight_gradients(p, n, layer, sink);
      }
    if (wanted.weights && (!wanted.data || p.chunks == 0))
      for (std::int64_t layer = n.layers - 1; layer >= 0; --layer) weight_gradients(p, n, layer, sink);
  }

 private:
  /// How the steps are cut and what lanes and events are called.
  struct plan {
    explicit plan(network const& n)
        : net(n),
          size(n.directions == 1 ? ChunkSteps : (std::max)(n.steps, std::int64_t(1))),
          chunks((n.steps + size - 1) / size) {}

    std::int64_t first(std::int64_t chunk) const { return chunk * size; }
    std::int64_t steps(std::int64_t chunk) const { return (std::min)(size, net.steps - chunk * size); }
    int lane(line const& l) const { return int(l.layer * net.directions + l.direction); }
    /// Two events a line are enough: a chunk is waited for on the diagonal after its signal, before the next but one.
    int event(line const& l, std::int64_t chunk) const { return 2 * lane(l) + int(chunk % 2); }

    network net;
    std::int64_t size;
    std::int64_t chunks;
  };

  template <class Sink>
  static void backward_chunk(plan const& p, network const& n, line const& l, std::int64_t chunk, Sink& sink) {
    int const lane = p.lane(l);
    // The last direction's input gradient completes dy of the layer below.
    if (l.layer + 1 < n.layers) sink.wait(lane, p.event({l.layer + 1, n.directions - 1}, chunk));
    for (std::int64_t step = p.first(chunk) + p.steps(chunk) - 1; step >= p.first(chunk); --step) {
      sink.pointwise_gradient(lane, l, step);
      sink.recurrent_gradient(lane, l, step);
    }
    // The reversed direction adds to what the other has written.
    if (l.direction > 0) sink.wait(lane, p.event({l.layer, l.direction - 1}, chunk));
    sink.input_gradient(lane, l, p.first(chunk), p.steps(chunk));
    if (l.layer > 0 || l.direction + 1 < n.directions) sink.signal(lane, p.event(l, chunk));
  }

  template <class Sink>
  static void weight_gradients(plan const& p, network const& n, std::int64_t layer, Sink& sink) {
    for (std::int64_t direction = 0; direction < n.directions; ++direction)
      sink.weight_gradient(p.lane({layer, direction}), {layer, direction});
  }
};

}  // namespace rnnopt::schedules

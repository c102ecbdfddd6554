#pragma once

#include <cstdint>

#include "rnnopt/schedule.hpp"
#include "rnnopt/schedules/chunk.hpp"

namespace rnnopt::schedules {

/// @brief Layers run at the same time, each on a lane of its own, a few steps behind the layer below.
///
/// The diagonals of layers x time of Appleyard et al. 2016, section 2.2.3, in chunks of `input_steps`, 8 unless given:
/// a layer hands on a chunk at once, so that its input products are one product. Backward is mirrored; the weight
/// gradients of a layer start when its own sweep is done. With both directions a layer needs the whole sequence below
/// it, so only the two directions of a layer run at the same time.
///
/// Cost: (steps + (layers - 1) * input_steps) times a step, as long as the GPU has room for `layers` steps at once.
///
/// @tparam Options  any of options.hpp, in any order
template <class... Options>
struct wavefront {
  static_assert(detail::require_options<Options...>::value);

  static constexpr bool transposed_weights = detail::options<Options...>::transposed;
  static constexpr bool fused_steps = detail::options<Options...>::fused;
  static constexpr bool elementwise = detail::options<Options...>::elementwise;

  static std::int64_t concurrent_layers(network const& n) { return n.layers; }
  static int priority(network const& n, int lane) {
    return options::prioritised && lane >= n.layers * n.directions ? 1 : 0;
  }

  template <class Sink>
  static void forward(network const& n, Sink& sink) {
    plan const p(n);
    // Diagonal after diagonal: what a lane waits for has been emitted, and no lane is emitted far ahead of the others.
    for (std::int64_t diagonal = 0; diagonal < p.chunks.count() + n.layers - 1; ++diagonal)
      for (std::int64_t layer = 0; layer < n.layers; ++layer) {
        std::int64_t const i = diagonal - layer;
        if (i < 0 || i >= p.chunks.count()) continue;
        for (std::int64_t direction = 0; direction < n.directions; ++direction) {
          detail::chunk const c = p.chunk_at({layer, direction}, i);
          if (layer > 0)
            for (std::int64_t below = 0; below < n.directions; ++below)
              sink.wait(c.side, p.event({layer - 1, below}, i));
          operations::forward(n, c, sink);
          if (layer + 1 < n.layers) sink.signal(c.recurrence, p.event(c.line, i));
        }
      }
  }

  template <class Sink>
  static void backward(network const& n, gradient_request wanted, Sink& sink) {
    plan const p(n);
    std::int64_t const diagonals = wanted.data ? p.chunks.count() + n.layers - 1 : 0;
    for (std::int64_t diagonal = 0; diagonal < diagonals; ++diagonal)
      for (std::int64_t layer = n.layers - 1; layer >= 0; --layer) {
        std::int64_t const i = p.chunks.count() - 1 - (diagonal - (n.layers - 1 - layer));
        if (i < 0 || i >= p.chunks.count()) continue;
        for (std::int64_t direction = 0; direction < n.directions; ++direction)
          backward_chunk(p, n, {layer, direction}, i, sink);
        if (i == 0 && wanted.weights) weight_gradients(p, n, layer, sink);
      }
    if (wanted.weights && (!wanted.data || p.chunks.count() == 0))
      for (std::int64_t layer = n.layers - 1; layer >= 0; --layer) weight_gradients(p, n, layer, sink);
  }

 private:
  using options = detail::options<Options...>;
  using operations = detail::chunk_operations<options>;

  /// How the steps are cut and what lanes and events are called.
  struct plan {
    explicit plan(network const& n)
        : net(n),
          chunks(n.steps, n.directions == 2          ? n.steps
                          : options::has_input_steps ? options::input_steps
                                                     : 8) {}

    std::int64_t index(line const& l) const { return l.layer * net.directions + l.direction; }
    /// Two events a line are enough: a chunk is waited for on the diagonal after its signal, before the next but one.
    int event(line const& l, std::int64_t i) const { return int(2 * index(l) + i % 2); }
    detail::chunk chunk_at(line const& l, std::int64_t i) const {
      // Side lanes first: lane 0 is the caller's stream and has the caller's priority.
      int const side = int(index(l)), lines = int(net.layers * net.directions);
      return {l, chunks.first(i), chunks.end(i), options::overlapped ? lines + side : side, side, 2 * lines + side};
    }

    network net;
    detail::chunking chunks;
  };

  template <class Sink>
  static void backward_chunk(plan const& p, network const& n, line const& l, std::int64_t i, Sink& sink) {
    detail::chunk const c = p.chunk_at(l, i);
    // The last direction's input gradient completes dy of the layer below.
    if (l.layer + 1 < n.layers) sink.wait(c.recurrence, p.event({l.layer + 1, n.directions - 1}, i));
    operations::backward_steps(n, c, sink);
    // The reversed direction adds to what the other has written.
    if (l.direction > 0) sink.wait(c.side, p.event({l.layer, l.direction - 1}, i));
    operations::input_gradient(n, c, sink);
    if (l.layer > 0 || l.direction + 1 < n.directions) sink.signal(c.side, p.event(l, i));
  }

  template <class Sink>
  static void weight_gradients(plan const& p, network const& n, std::int64_t layer, Sink& sink) {
    for (std::int64_t direction = 0; direction < n.directions; ++direction)
      sink.weight_gradient(p.chunk_at({layer, direction}, 0).side, {layer, direction});
  }
};

}  // namespace rnnopt::schedules

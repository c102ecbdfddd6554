#pragma once

#include <cstdint>

#include "rnnopt/schedule.hpp"

namespace rnnopt::schedules {

/// @brief Layer after layer, all steps of a line in one kernel that keeps R on the chip.
///
/// Persistent RNNs (Diamos et al. 2016): the recurrent weights are read once for the whole sequence, and only h goes
/// from step to step. Here a thread-block cluster holds R between its blocks, so a GPU needs compute capability 9.0,
/// the precision one that the matrix units multiply (fp16, bf16, tf32), and R has to fit into the cluster: rnn::misfit
/// says whether it does. A cell without recurrent gates runs as one kernel a step. Input products, input gradients and
/// weight gradients are one product each over all steps; the weight gradients of a layer run beside the sweep of the
/// layer below.
struct cluster {
  static constexpr team sweeps = team::cluster;

  static std::int64_t concurrent_layers(network const&) { return 1; }

  template <class Sink>
  static void forward(network const& n, Sink& sink) {
    if (n.steps == 0) return;
    for (std::int64_t layer = 0; layer < n.layers; ++layer)
      for (std::int64_t direction = 0; direction < n.directions; ++direction) {
        line const l{layer, direction};
        sink.input_product(recurrence, l, 0, n.steps);
        sink.sweep(recurrence, l, 0, n.steps);
      }
  }

  template <class Sink>
  static void backward(network const& n, gradient_request wanted, Sink& sink) {
    for (std::int64_t layer = n.layers - 1; layer >= 0; --layer) {
      if (wanted.data && n.steps > 0)
        for (std::int64_t direction = 0; direction < n.directions; ++direction) {
          line const l{layer, direction};
          sink.sweep_gradient(recurrence, l, 0, n.steps);
          sink.recurrent_gradient(recurrence, l, 0);
          sink.input_gradient(recurrence, l, 0, n.steps);
        }
      // The lowest layer has no sweep left to run beside.
      if (wanted.weights) weight_gradients(n, layer, wanted.data && layer > 0 ? side : recurrence, sink);
    }
  }

 private:
  static constexpr int recurrence = 0;
  static constexpr int side = 1;
  static constexpr int event = 0;

  template <class Sink>
  static void weight_gradients(network const& n, std::int64_t layer, int lane, Sink& sink) {
    if (lane != recurrence) {
      sink.signal(recurrence, event);
      sink.wait(lane, event);
    }
    for (std::int64_t direction = 0; direction < n.directions; ++direction)
      sink.weight_gradient(lane, {layer, direction});
  }
};

}  // namespace rnnopt::schedules

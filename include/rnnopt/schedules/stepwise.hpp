#pragma once

#include "rnnopt/schedule.hpp"

namespace rnnopt::schedules {

/// @brief Layer after layer, step after step, on the caller's stream alone.
///
/// The input products of all steps are one product; each step is one product for all gates and one pointwise kernel
/// (Appleyard et al. 2016, sections 2.1.1, 2.1.3 and 2.2.2). Weight gradients are one product over all steps.
struct stepwise {
  static std::int64_t concurrent_layers(network const&) { return 1; }

  template <class Sink>
  static void forward(network const& n, Sink& sink) {
    for (std::int64_t layer = 0; layer < n.layers; ++layer)
      for (std::int64_t direction = 0; direction < n.directions; ++direction) {
        line const l{layer, direction};
        sink.input_product(0, l, 0, n.steps);
        for (std::int64_t step = 0; step < n.steps; ++step) {
          sink.recurrent_product(0, l, step);
          sink.pointwise(0, l, step);
        }
      }
  }

  template <class Sink>
  static void backward(network const& n, gradient_request wanted, Sink& sink) {
    for (std::int64_t layer = n.layers - 1; layer >= 0; --layer)
      for (std::int64_t direction = 0; direction < n.directions; ++direction) {
        line const l{layer, direction};
        if (wanted.data) {
          for (std::int64_t step = n.steps - 1; step >= 0; --step) {
            sink.pointwise_gradient(0, l, step);
            sink.recurrent_gradient(0, l, step);
          }
          sink.input_gradient(0, l, 0, n.steps);
        }
        if (wanted.weights) sink.weight_gradient(0, l);
      }
  }
};

}  // namespace rnnopt::schedules

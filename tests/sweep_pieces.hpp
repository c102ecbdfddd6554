#pragma once

#include <algorithm>
#include <cstdint>

#include "rnnopt/schedule.hpp"

namespace rnnopt_tests {

/// A schedule of sweeps over `Piece` steps each, on one lane: what one begins with, the one before it has left.
template <std::int64_t Piece, rnnopt::team Team = rnnopt::team::cluster>
struct pieces {
  static constexpr rnnopt::team sweeps = Team;

  static std::int64_t concurrent_layers(rnnopt::network const&) { return 1; }

  template <class Sink>
  static void forward(rnnopt::network const& n, Sink& sink) {
    for (std::int64_t layer = 0; layer < n.layers; ++layer)
      for (std::int64_t d = 0; d < n.directions; ++d)
        for (std::int64_t first = 0; first < n.steps; first += Piece) {
          std::int64_t const steps = std::min(Piece, n.steps - first);
          sink.input_product(0, {layer, d}, first, steps);
          sink.sweep(0, {layer, d}, first, steps);
        }
  }

  template <class Sink>
  static void backward(rnnopt::network const& n, rnnopt::gradient_request wanted, Sink& sink) {
    for (std::int64_t layer = n.layers - 1; layer >= 0; --layer)
      for (std::int64_t d = 0; d < n.directions; ++d) {
        if (wanted.data && n.steps > 0) {
          for (std::int64_t end = n.steps; end > 0; end -= Piece) {
            std::int64_t const steps = std::min(Piece, end);
            sink.sweep_gradient(0, {layer, d}, end - steps, steps);
          }
          sink.recurrent_gradient(0, {layer, d}, 0);
          sink.input_gradient(0, {layer, d}, 0, n.steps);
        }
        if (wanted.weights) sink.weight_gradient(0, {layer, d});
      }
  }
};

}  // namespace rnnopt_tests

#pragma once

#include <cstdint>

#include "rnnopt/schedule.hpp"
#include "rnnopt/schedules/chunk.hpp"

namespace rnnopt::schedules {

/// @brief Layer after layer, step after step, on the caller's stream alone unless overlapped.
///
/// Without options, the input products of all steps are one product; each step is one product for all gates and one
/// pointwise kernel (Appleyard et al. 2016, sections 2.1.1, 2.1.3 and 2.2.2). Weight gradients are one product over all
/// steps.
///
/// @tparam Options  any of options.hpp, in any order
template <class... Options>
struct stepwise {
  static_assert(detail::require_options<Options...>::value);

  static constexpr bool transposed_weights = detail::options<Options...>::transposed;
  static constexpr bool fused_steps = detail::options<Options...>::fused;
  static constexpr bool elementwise = detail::options<Options...>::elementwise;

  static std::int64_t concurrent_layers(network const&) { return 1; }
  static int priority(network const&, int lane) { return options::prioritised && lane == recurrence ? 1 : 0; }

  template <class Sink>
  static void forward(network const& n, Sink& sink) {
    for (std::int64_t layer = 0; layer < n.layers; ++layer) {
      // Input products read what the layer below has put out and overwrite what it has read.
      if (layer > 0) operations::hand_over(recurrence, side, event, sink);
      for (std::int64_t direction = 0; direction < n.directions; ++direction)
        for (std::int64_t i = 0; i < chunks(n).count(); ++i)
          operations::forward(n, chunk_at(n, {layer, direction}, i), sink);
    }
  }

  template <class Sink>
  static void backward(network const& n, gradient_request wanted, Sink& sink) {
    for (std::int64_t layer = n.layers - 1; layer >= 0; --layer) {
      if (wanted.data) {
        for (std::int64_t direction = 0; direction < n.directions; ++direction)
          for (std::int64_t i = chunks(n).count() - 1; i >= 0; --i) {
            detail::chunk const c = chunk_at(n, {layer, direction}, i);
            operations::backward_steps(n, c, sink);
            operations::input_gradient(n, c, sink);
          }
        // The layer below goes on while this one's weight gradients run.
        if (layer > 0) operations::hand_over(side, recurrence, event, sink);
      }
      if (wanted.weights)
        for (std::int64_t direction = 0; direction < n.directions; ++direction)
          sink.weight_gradient(side, {layer, direction});
    }
  }

 private:
  using options = detail::options<Options...>;
  using operations = detail::chunk_operations<options>;

  // The caller's stream has the caller's priority; the recurrence is where priority matters.
  static constexpr int side = 0;
  static constexpr int recurrence = options::overlapped ? 1 : 0;
  static constexpr int event = 0;

  static detail::chunking chunks(network const& n) {
    return {n.steps, options::has_input_steps ? options::input_steps : n.steps};
  }
  static detail::chunk chunk_at(network const& n, line const& l, std::int64_t i) {
    return {l, chunks(n).first(i), chunks(n).end(i), recurrence, side, event};
  }
};

}  // namespace rnnopt::schedules

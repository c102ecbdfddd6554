#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "device.hpp"
#include "fill.hpp"
#include "rnnopt/arguments.hpp"
#include "rnnopt/weights.hpp"

namespace bench {

template <class T>
constexpr element element_of() {
  if constexpr (std::is_same_v<T, double>) return element::fp64;
  else if constexpr (std::is_same_v<T, float>) return element::fp32;
  else if constexpr (std::is_same_v<T, rnnopt::half>) return element::fp16;
  else {
    static_assert(std::is_same_v<T, rnnopt::bfloat16>);
    return element::bf16;
  }
}

/// One buffer for each state of a cell, [layers, batch, hidden].
template <class Cell, class Precision>
struct state_arrays {
  using storage = typename Precision::storage;
  using state = typename Precision::state;

  device_array<storage> h;
  std::vector<device_array<state>> others;

  explicit state_arrays(std::int64_t count) : h(count) {
    for (int s = 1; s < Cell::states; ++s) others.emplace_back(count);
  }

  template <class H, class Other>
  void bind(rnnopt::state_pointers<H, Other, Cell::states>& pointers) const {
    pointers.h = h.data();
    for (std::size_t s = 0; s < others.size(); ++s) pointers.others[s] = others[s].data();
  }

  void fill(double scale, std::uint64_t seed, cudaStream_t stream) const {
    fill_uniform(h.data(), element_of<storage>(), h.size(), scale, seed, stream);
    for (auto const& other : others)
      fill_uniform(other.data(), element_of<state>(), other.size(), scale, ++seed, stream);
  }
};

/// Inputs, weights and outputs of one network on the device. Random: data uniform in [-1, 1), weights and biases in
/// [-1, 1) / sqrt(hidden).
template <class Cell, class Precision>
struct network_data {
  using storage = typename Precision::storage;
  using accumulate = typename Precision::accumulate;
  using states = state_arrays<Cell, Precision>;

  rnnopt::extents extents;
  rnnopt::weight_layout<Cell> layout;
  device_array<storage> parameters, x, y, dy, dx;
  device_array<accumulate> gradients;
  states initial, final, final_gradient, initial_gradient;
  std::vector<rnnopt::line_weights<storage const>> weights;
  std::vector<rnnopt::line_weights<accumulate>> weight_gradients;

  network_data(rnnopt::extents const& e, cudaStream_t stream)
      : extents(e),
        layout(e),
        parameters(layout.size()),
        x(rnnopt::detail::checked_product("bench", e.steps, e.batch, e.input)),
        y(rnnopt::detail::checked_product("bench", e.steps, e.batch, e.hidden)),
        dy(y.size()),
        dx(x.size()),
        gradients(layout.size()),
        initial(rnnopt::detail::checked_product("bench", e.layers, e.batch, e.hidden)),
        final(initial.h.size()),
        final_gradient(initial.h.size()),
        initial_gradient(initial.h.size()),
        weights(layout.bind(static_cast<storage const*>(parameters.data()))),
        weight_gradients(layout.bind(gradients.data())) {
    double const bound = 1 / std::sqrt(static_cast<double>(e.hidden));
    constexpr element type = element_of<storage>();
    fill_uniform(parameters.data(), type, parameters.size(), bound, 1, stream);
    fill_uniform(x.data(), type, x.size(), 1, 2, stream);
    fill_uniform(dy.data(), type, dy.size(), 1, 3, stream);
    initial.fill(1, 100, stream);
    final_gradient.fill(1, 200, stream);
    check_cuda(cudaMemsetAsync(gradients.data(), 0, gradients.bytes(), stream), "cudaMemsetAsync");
  }

  rnnopt::forward_arguments<Cell, Precision> forward(rnnopt::memory workspace, rnnopt::memory reserve) const {
    rnnopt::forward_arguments<Cell, Precision> a;
    a.x = x.data();
    a.weights = weights.data();
    initial.bind(a.initial);
    a.y = y.data();
    final.bind(a.final);
    a.workspace = workspace;
    a.reserve = reserve;
    return a;
  }

  /// Weight gradients are added to, which is all that cuDNN offers.
  rnnopt::backward_arguments<Cell, Precision> backward(rnnopt::memory workspace, rnnopt::memory reserve) const {
    rnnopt::backward_arguments<Cell, Precision> a;
    a.x = x.data();
    a.weights = weights.data();
    a.dy = dy.data();
    final_gradient.bind(a.final_gradient);
    a.dx = dx.data();
    initial_gradient.bind(a.initial_gradient);
    a.gradients = weight_gradients.data();
    a.mode = rnnopt::gradient_mode::accumulate;
    a.workspace = workspace;
    a.reserve = reserve;
    return a;
  }
};

}  // namespace bench

#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "network_data.hpp"
#include "rnnopt/host_rnn.hpp"
#include "rnnopt/schedules/stepwise.hpp"

namespace bench {

/// |got - expected| / |expected|; NaN if there is one in either.
template <class T>
double relative_error(std::vector<T> const& got, std::vector<T> const& expected) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    double const e = static_cast<double>(expected[i]);
    double const d = static_cast<double>(got[i]) - e;
    difference += d * d;
    norm += e * e;
  }
  return norm > 0 ? std::sqrt(difference / norm) : std::sqrt(difference);
}

/// What the host executor makes of the first steps of a few rows of the batch.
///
/// A row's y and dx depend on no other row. With dy and the gradients of the final states zero in all other rows, the
/// weight gradients do not either: these rows are then enough to check a network of any batch.
template <class Cell, class Precision>
class oracle {
  using storage = typename Precision::storage;
  using state = typename Precision::state;
  using accumulate = typename Precision::accumulate;
  using data = network_data<Cell, Precision>;

 public:
  static constexpr std::int64_t most_steps = 4;

  explicit oracle(data const& device) : device_(device), extents_(device.extents) {
    if (extents_.batch > 1) rows_.push_back(extents_.batch - 1);
    extents_.batch = static_cast<std::int64_t>(rows_.size());
    extents_.steps = std::min(extents_.steps, most_steps);
    run();
  }

  std::int64_t steps() const { return extents_.steps; }

  /// Of the first steps of what the device holds: y [steps, batch, hidden], dx [steps, batch, input], all gradients.
  double error_of_y() const { return relative_error(rows_of(device_.y.data(), extents_.steps, extents_.hidden), y_); }
  double error_of_dx() const { return relative_error(rows_of(device_.dx.data(), extents_.steps, extents_.input), dx_); }
  double error_of_gradients() const { return relative_error(all_of(device_.gradients), gradients_); }

  /// Copies this oracle's rows of [planes, batch, width] on the device to the same place; the other rows stay.
  template <class T>
  void copy_rows(T* to, T const* from, std::int64_t planes, std::int64_t width, cudaStream_t stream) const {
    std::size_t const row_bytes = std::size_t(width) * sizeof(T);
    std::size_t const pitch = std::size_t(device_.extents.batch) * row_bytes;
    for (std::int64_t const row : rows_)
      check_cuda(cudaMemcpy2DAsync(to + row * width, pitch, from + row * width, pitch, row_bytes, std::size_t(planes),
                                   cudaMemcpyDeviceToDevice, stream),
                 "cudaMemcpy2DAsync");
  }

 private:
  /// These rows of [planes, batch, width] on the device as [planes, rows, width].
  template <class T>
  std::vector<T> rows_of(T const* from, std::int64_t planes, std::int64_t width) const {
    std::vector<T> result(std::size_t(planes * extents_.batch * width));
    std::size_t const row_bytes = std::size_t(width) * sizeof(T);
    for (std::size_t i = 0; i < rows_.size(); ++i)
      check_cuda(cudaMemcpy2D(result.data() + i * std::size_t(width), rows_.size() * row_bytes, from + rows_[i] * width,
                              std::size_t(device_.extents.batch) * row_bytes, row_bytes, std::size_t(planes),
                              cudaMemcpyDeviceToHost),
                 "cudaMemcpy2D");
    return result;
  }

  template <class T>
  static std::vector<T> all_of(device_array<T> const& from) {
    std::vector<T> result(std::size_t(from.size()));
    check_cuda(cudaMemcpy(result.data(), from.data(), from.bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return result;
  }

  /// The states of these rows, and pointers to them.
  struct host_states {
    std::vector<storage> h;
    std::vector<std::vector<state>> others;

    host_states(oracle const& o, typename data::states const& from)
        : h(o.rows_of(from.h.data(), o.extents_.layers, o.extents_.hidden)) {
      for (auto const& other : from.others)
        others.push_back(o.rows_of(other.data(), o.extents_.layers, o.extents_.hidden));
    }
    void bind(rnnopt::state_pointers<storage const, state const, Cell::states>& pointers) const {
      pointers.h = h.data();
      for (std::size_t s = 0; s < others.size(); ++s) pointers.others[s] = others[s].data();
    }
  };

  void run() {
    rnnopt::host_rnn<Cell, Precision, rnnopt::schedules::stepwise<>> const network(extents_);
    auto const parameters = all_of(device_.parameters);
    auto const weights = device_.layout.bind(parameters.data());
    auto const x = rows_of(device_.x.data(), extents_.steps, extents_.input);
    auto const dy = rows_of(device_.dy.data(), extents_.steps, extents_.hidden);
    host_states const initial(*this, device_.initial), final_gradient(*this, device_.final_gradient);
    std::vector<std::byte> workspace(
        std::max(network.workspace_bytes(rnnopt::pass::training), network.workspace_bytes(rnnopt::pass::backward)));
    std::vector<std::byte> reserve(network.reserve_bytes());
    y_.resize(dy.size());
    dx_.resize(x.size());
    gradients_.resize(std::size_t(device_.layout.size()));
    auto const gradients = device_.layout.bind(gradients_.data());

    rnnopt::forward_arguments<Cell, Precision> forward;
    forward.x = x.data();
    forward.weights = weights.data();
    initial.bind(forward.initial);
    forward.y = y_.data();
    forward.workspace = {workspace.data(), workspace.size()};
    forward.reserve = {reserve.data(), reserve.size()};
    network.forward_training(forward);

    rnnopt::backward_arguments<Cell, Precision> backward;
    backward.x = x.data();
    backward.weights = weights.data();
    backward.dy = dy.data();
    final_gradient.bind(backward.final_gradient);
    backward.dx = dx_.data();
    backward.gradients = gradients.data();
    backward.workspace = forward.workspace;
    backward.reserve = forward.reserve;
    network.backward(backward);
  }

  data const& device_;
  std::vector<std::int64_t> rows_{0};
  rnnopt::extents extents_;
  std::vector<storage> y_, dx_;
  std::vector<accumulate> gradients_;
};

}  // namespace bench

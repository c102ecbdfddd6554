#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "random_network.hpp"
#include "rnnopt/host_rnn.hpp"

namespace rnnopt_tests {

/// A random network on the host with all its buffers: what others are held against. The passes run one at a time, so
/// that backward can be given the reserve of another executor; the layout is the same.
template <class Cell, class Precision, class Schedule>
class host_network {
 public:
  explicit host_network(random_network<Cell, Precision> const& network)
      : network_(network),
        host_(network.e),
        workspace_(units((std::max)(host_.workspace_bytes(rnnopt::pass::training),
                                    host_.workspace_bytes(rnnopt::pass::backward)))),
        reserve_(units(host_.reserve_bytes())),
        results_(network) {}

  results<Cell, Precision> const& output() const { return results_; }
  void* reserve() { return reserve_.data(); }
  std::size_t reserve_bytes() const { return host_.reserve_bytes(); }

  void forward_training() {
    auto const weights = network_.layout.bind(network_.weights.data());
    rnnopt::forward_arguments<Cell, Precision> a;
    a.x = network_.x.data();
    a.weights = weights.data();
    a.initial.h = network_.h.data();
    a.y = results_.y.data();
    a.final.h = results_.h.data();
    for (std::size_t s = 0; s + 1 != std::size_t(Cell::states); ++s) {
      a.initial.others[s] = network_.others[s].data();
      a.final.others[s] = results_.others[s].data();
    }
    a.lengths = lengths();
    a.workspace = memory_of(workspace_);
    a.reserve = memory_of(reserve_);
    host_.forward_training(a);
  }

  void backward() {
    auto const weights = network_.layout.bind(network_.weights.data());
    auto const gradients = network_.layout.bind(results_.dweights.data());
    rnnopt::backward_arguments<Cell, Precision> a;
    a.x = network_.x.data();
    a.weights = weights.data();
    a.dy = network_.dy.data();
    a.final_gradient.h = network_.dh.data();
    a.dx = results_.dx.data();
    a.initial_gradient.h = results_.dh.data();
    for (std::size_t s = 0; s + 1 != std::size_t(Cell::states); ++s) {
      a.final_gradient.others[s] = network_.dothers[s].data();
      a.initial_gradient.others[s] = results_.dothers[s].data();
    }
    a.gradients = gradients.data();
    a.lengths = lengths();
    a.workspace = memory_of(workspace_);
    a.reserve = memory_of(reserve_);
    host_.backward(a);
  }

 private:
  using unit = std::max_align_t;
  static std::vector<unit> units(std::size_t bytes) { return std::vector<unit>(bytes / sizeof(unit) + 1); }
  static rnnopt::memory memory_of(std::vector<unit>& buffer) { return {buffer.data(), buffer.size() * sizeof(unit)}; }
  std::int32_t const* lengths() const { return network_.lengths.empty() ? nullptr : network_.lengths.data(); }

  random_network<Cell, Precision> const& network_;
  rnnopt::host_rnn<Cell, Precision, Schedule> host_;
  std::vector<unit> workspace_, reserve_;
  results<Cell, Precision> results_;
};

/// Training forward and backward of a random network on the host.
template <class Schedule, class Cell, class Precision>
results<Cell, Precision> host_results(random_network<Cell, Precision> const& network) {
  host_network<Cell, Precision, Schedule> host(network);
  host.forward_training();
  host.backward();
  return host.output();
}

}  // namespace rnnopt_tests

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "random_network.hpp"
#include "rnnopt/host_rnn.hpp"
#include "rnnopt/schedules/stepwise.hpp"

/// Runs a random network on host_rnn: what is tested in the host lane, and the reference of the GPU lane.

namespace rnnopt_tests {

/// Memory that begins as NaN in every floating-point type, with a guard region right behind it.
class guarded_memory {
 public:
  explicit guarded_memory(std::size_t bytes) : bytes_(bytes), all_(bytes + guard + 2 * alignment) {
    // Aligned as required and no better: an odd multiple of the alignment.
    auto const past = reinterpret_cast<std::uintptr_t>(all_.data()) % (2 * alignment);
    data_ = all_.data() + (3 * alignment - past) % (2 * alignment);
    poison();
  }
  guarded_memory(guarded_memory const&) = delete;
  guarded_memory& operator=(guarded_memory const&) = delete;

  void poison() {
    std::fill(data_, data_ + bytes_, std::byte(0xff));
    std::fill(data_ + bytes_, data_ + bytes_ + guard, std::byte(0xa5));
  }
  bool guard_is_intact() const {
    return std::all_of(data_ + bytes_, data_ + bytes_ + guard, [](std::byte b) { return b == std::byte(0xa5); });
  }
  std::byte* data() { return data_; }
  std::vector<std::byte> content() const { return {data_, data_ + bytes_}; }
  rnnopt::memory memory() { return {data_, bytes_}; }

 private:
  static constexpr std::size_t guard = 256, alignment = 16;
  std::size_t bytes_;
  std::vector<std::byte> all_;
  std::byte* data_;
};

/// One network with its buffers and the arguments of its calls, which a test may change before a call.
template <class Cell, class Precision, class Schedule = rnnopt::schedules::stepwise<>>
struct host_run {
  using network = rnnopt::host_rnn<Cell, Precision, Schedule>;
  using storage = typename Precision::storage;
  using accumulate = typename Precision::accumulate;

  random_network<Cell, Precision> in;
  network net;
  results<Cell, Precision> out;
  guarded_memory inference_workspace, training_workspace, backward_workspace, reserve;
  std::vector<rnnopt::line_weights<storage const>> weights;
  std::vector<rnnopt::line_weights<accumulate>> gradients;
  typename network::forward_arguments forward;
  typename network::backward_arguments backward;

  explicit host_run(random_network<Cell, Precision> const& numbers)
      : in(numbers),
        net(in.e),
        out(in),
        inference_workspace(net.workspace_bytes(rnnopt::pass::inference)),
        training_workspace(net.workspace_bytes(rnnopt::pass::training)),
        backward_workspace(net.workspace_bytes(rnnopt::pass::backward)),
        reserve(net.reserve_bytes()),
        weights(in.layout.template bind<storage const>(in.weights.data())),
        gradients(in.layout.template bind<accumulate>(out.dweights.data())) {
    forward.x = backward.x = in.x.data();
    forward.weights = backward.weights = weights.data();
    forward.initial.h = in.h.data();
    forward.y = out.y.data();
    forward.final.h = out.h.data();
    backward.dy = in.dy.data();
    backward.final_gradient.h = in.dh.data();
    backward.dx = out.dx.data();
    backward.initial_gradient.h = out.dh.data();
    for (std::size_t s = 0; s != in.other_states; ++s) {
      forward.initial.others[s] = in.others[s].data();
      forward.final.others[s] = out.others[s].data();
      backward.final_gradient.others[s] = in.dothers[s].data();
      backward.initial_gradient.others[s] = out.dothers[s].data();
    }
    backward.gradients = gradients.data();
    forward.lengths = backward.lengths = in.lengths.empty() ? nullptr : in.lengths.data();
    forward.reserve = reserve.memory();
    backward.workspace = backward_workspace.memory();
    backward.reserve = reserve.memory();
  }
  host_run(host_run const&) = delete;
  host_run& operator=(host_run const&) = delete;

  void infer() {
    forward.workspace = inference_workspace.memory();
    net.forward(forward);
  }
  void train() {
    forward.workspace = training_workspace.memory();
    net.forward_training(forward);
  }
  void backpropagate() { net.backward(backward); }

  /// Training forward and all of backward.
  host_run& run() {
    train();
    backpropagate();
    return *this;
  }
  bool guards_are_intact() const {
    return inference_workspace.guard_is_intact() && training_workspace.guard_is_intact() &&
           backward_workspace.guard_is_intact() && reserve.guard_is_intact();
  }
};

/// A type that typed tests run for.
template <class Cell, class Precision>
struct subject {
  using cell = Cell;
  using precision = Precision;
  using run = host_run<Cell, Precision>;
  using numbers = random_network<Cell, Precision>;
};

/// What training forward and backward give on the host.
template <class Schedule, class Cell, class Precision>
results<Cell, Precision> host_results(random_network<Cell, Precision> const& network) {
  return host_run<Cell, Precision, Schedule>(network).run().out;
}

}  // namespace rnnopt_tests

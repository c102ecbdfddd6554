#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "network_data.hpp"
#include "oracle.hpp"
#include "problem.hpp"
#include "rnnopt/rnn.cuh"

namespace bench {

/// Workspace and reserve of one planned network, of the size that its passes need.
struct scratch {
  device_memory workspace, reserve;

  template <class Network>
  explicit scratch(Network const& network)
      : workspace(
            std::max({network.workspace_bytes(rnnopt::pass::inference), network.workspace_bytes(rnnopt::pass::training),
                      network.workspace_bytes(rnnopt::pass::backward)})),
        reserve(network.reserve_bytes()) {}

  rnnopt::memory workspace_memory() const { return {workspace.data(), workspace.bytes()}; }
  rnnopt::memory reserve_memory() const { return {reserve.data(), reserve.bytes()}; }
};

/// The 64-bit FNV-1a hash (Fowler, Noll and Vo 1991).
inline std::uint64_t fingerprint_of(std::vector<unsigned char> const& bytes) {
  std::uint64_t hash = 0xcbf29ce484222325ull;
  for (unsigned char const byte : bytes) hash = (hash ^ byte) * 0x100000001b3ull;
  return hash;
}

/// The data of a shape and, once it is asked for, the oracle's answer.
template <class Cell, class Precision>
struct shared_data {
  cudaStream_t stream;  ///< on which the data are drawn
  network_data<Cell, Precision> network;
  std::optional<oracle<Cell, Precision>> expected;

  shared_data(rnnopt::extents const& e, cudaStream_t s) : stream(s), network(e, s) {}
};

template <class Cell, class Precision, class Schedule>
class planned final : public library_contender {
  using network_type = rnnopt::rnn<Cell, Precision, Schedule>;
  using storage = typename Precision::storage;

 public:
  planned(shared_data<Cell, Precision>& shared, rnnopt::plan_options const& options)
      : shared_(shared),
        options_(options),
        network_(shared.network.extents, options),
        scratch_(network_),
        packed_(network_.packed_bytes()),
        forward_(shared.network.forward(scratch_.workspace_memory(), scratch_.reserve_memory())),
        backward_(shared.network.backward(scratch_.workspace_memory(), scratch_.reserve_memory())) {
    network_.pack(shared.stream, shared.network.weights.data(), {packed_.data(), packed_.bytes()});
    forward_.packed = backward_.packed = {packed_.data(), packed_.bytes()};
  }

  void enqueue(timed_pass pass, cudaStream_t stream) override {
    switch (pass) {
      case timed_pass::forward_inference:
        return network_.forward(stream, forward_);
      case timed_pass::forward_training:
        return network_.forward_training(stream, forward_);
      case timed_pass::backward_data:
        return network_.backward_data(stream, backward_);
      case timed_pass::weight_gradient:
        return network_.weight_gradient(stream, backward_);
    }
  }

  pass_errors errors(cudaStream_t stream) override {
    pass_errors result;
    auto const& data = shared_.network;
    if (data.extents.batch == 0 || data.extents.steps == 0) return result;
    check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    if (!shared_.expected) shared_.expected.emplace(data);
    auto const& expected = *shared_.expected;

    for (timed_pass const pass : {timed_pass::forward_inference, timed_pass::forward_training}) {
      poison(data.y, stream);
      enqueue(pass, stream);
      check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
      result[std::size_t(pass)] = expected.error_of_y();
    }

    // Backward through the first steps alone; the rows that the oracle leaves out get gradients of zero.
    rnnopt::extents first_steps = data.extents;
    first_steps.steps = expected.steps();
    network_type const network(first_steps, options_);
    scratch const memory(network);
    auto forward = data.forward(memory.workspace_memory(), memory.reserve_memory());
    auto backward = data.backward(memory.workspace_memory(), memory.reserve_memory());
    device_array<storage> dy(first_steps.steps * first_steps.batch * first_steps.hidden);
    typename network_data<Cell, Precision>::states final_gradient(data.final_gradient.h.size());
    auto const keep_rows = [&](auto const& to, auto const& from, std::int64_t planes) {
      check_cuda(cudaMemsetAsync(to.data(), 0, to.bytes(), stream), "cudaMemsetAsync");
      expected.copy_rows(to.data(), from.data(), planes, first_steps.hidden, stream);
    };
    keep_rows(dy, data.dy, first_steps.steps);
    keep_rows(final_gradient.h, data.final_gradient.h, first_steps.layers);
    for (std::size_t s = 0; s < final_gradient.others.size(); ++s)
      keep_rows(final_gradient.others[s], data.final_gradient.others[s], first_steps.layers);
    backward.dy = dy.data();
    final_gradient.bind(backward.final_gradient);
    backward.mode = rnnopt::gradient_mode::overwrite;
    forward.packed = backward.packed = forward_.packed;
    poison(data.dx, stream);
    poison(data.gradients, stream);
    network.forward_training(stream, forward);
    network.backward_data(stream, backward);
    network.weight_gradient(stream, backward);
    check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    result[std::size_t(timed_pass::backward_data)] = expected.error_of_dx();
    result[std::size_t(timed_pass::weight_gradient)] = expected.error_of_gradients();
    return result;
  }

  pass_fingerprints fingerprints(cudaStream_t stream) override {
    pass_fingerprints result;
    auto const hash_of = [&](timed_pass pass, auto const& output) {
      poison(output, stream);
      enqueue(pass, stream);
      std::vector<unsigned char> bytes(output.bytes());
      check_cuda(cudaMemcpyAsync(bytes.data(), output.data(), bytes.size(), cudaMemcpyDeviceToHost, stream),
                 "cudaMemcpyAsync");
      check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
      result[std::size_t(pass)] = fingerprint_of(bytes);
    };
    hash_of(timed_pass::forward_training, shared_.network.y);
    hash_of(timed_pass::backward_data, shared_.network.dx);
    return result;
  }

 private:
  /// All bits set is NaN in every element type.
  template <class T>
  static void poison(device_array<T> const& array, cudaStream_t stream) {
    check_cuda(cudaMemsetAsync(array.data(), 0xff, array.bytes(), stream), "cudaMemsetAsync");
  }

  shared_data<Cell, Precision>& shared_;
  rnnopt::plan_options options_;
  network_type network_;
  scratch scratch_;
  device_memory packed_;
  rnnopt::forward_arguments<Cell, Precision> forward_;
  rnnopt::backward_arguments<Cell, Precision> backward_;
};

/// @tparam Schedules  a tuple of what has a schedule as `type` and the `name` by which it is asked for
template <auto const& Schedules, class Cell, class Precision>
class problem_of final : public problem {
 public:
  problem_of(shape const& s, cudaStream_t stream) : shared_(extents_of(s), stream) {}

  std::unique_ptr<library_contender> plan(std::string const& schedule, rnnopt::product_choice products) override {
    rnnopt::plan_options options;
    options.products = products;
    std::unique_ptr<library_contender> result;
    auto const plan_if_named = [&](auto const& candidate) {
      using schedule_type = typename std::decay_t<decltype(candidate)>::type;
      if (schedule == candidate.name)
        result = std::make_unique<planned<Cell, Precision, schedule_type>>(shared_, options);
    };
    std::apply([&](auto const&... candidates) { (plan_if_named(candidates), ...); }, Schedules);
    if (result == nullptr) throw std::invalid_argument("no schedule '" + schedule + "' is compiled in");
    return result;
  }

 private:
  static rnnopt::extents extents_of(shape const& s) {
    rnnopt::extents e;
    e.layers = s.layers;
    e.input = s.hidden;
    e.hidden = s.hidden;
    e.batch = s.batch;
    e.steps = s.steps;
    return e;
  }

  shared_data<Cell, Precision> shared_;
};

template <auto const& Schedules, class Cell, class Precision>
problem_kind kind_of(char const* cell, char const* precision) {
  return {cell, precision, [](shape const& s, cudaStream_t stream) -> std::unique_ptr<problem> {
            return std::make_unique<problem_of<Schedules, Cell, Precision>>(s, stream);
          }};
}

}  // namespace bench

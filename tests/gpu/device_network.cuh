#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "random_network.hpp"
#include "rnnopt/rnn.cuh"

/// Runs a random network on the GPU in guarded, poisoned buffers.

namespace rnnopt_tests {

inline void expect_success(cudaError_t code) {
  if (code != cudaSuccess) throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(code));
}

/// A stream, and a graph captured from it; capture ends whatever happens, so that one failure stays one.
class test_stream {
 public:
  test_stream() { expect_success(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~test_stream() {
    if (exec_ != nullptr) cudaGraphExecDestroy(exec_);
    cudaStreamDestroy(stream_);
  }
  test_stream(test_stream const&) = delete;
  test_stream& operator=(test_stream const&) = delete;

  operator cudaStream_t() const { return stream_; }

  template <class Function>
  void capture(Function&& function) {
    cudaGraph_t graph = nullptr;
    expect_success(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal));
    try {
      function();
    } catch (...) {
      cudaStreamEndCapture(stream_, &graph);
      cudaGetLastError();
      throw;
    }
    expect_success(cudaStreamEndCapture(stream_, &graph));
    expect_success(cudaGraphInstantiate(&exec_, graph, 0));
    expect_success(cudaGraphDestroy(graph));
  }
  void replay() const { expect_success(cudaGraphLaunch(exec_, stream_)); }

 private:
  cudaStream_t stream_ = nullptr;
  cudaGraphExec_t exec_ = nullptr;
};

/// Device memory of exactly so many bytes, aligned to 16 bytes and no better, followed by a guard whose pattern must
/// survive.
class guarded {
 public:
  guarded() = default;
  explicit guarded(std::size_t bytes) : bytes_(bytes) {
    void* pointer = nullptr;
    expect_success(cudaMalloc(&pointer, offset + bytes + guard_bytes));
    block_.reset(static_cast<char*>(pointer));
    expect_success(cudaMemset(data() + bytes, 0x5a, guard_bytes));
    poison();
  }

  /// NaN in every type that is stored.
  void poison() { expect_success(cudaMemset(data(), 0xff, bytes_)); }

  template <class T>
  static guarded of(std::vector<T> const& from) {
    guarded result(from.size() * sizeof(T));
    expect_success(cudaMemcpy(result.data(), from.data(), result.bytes_, cudaMemcpyHostToDevice));
    // A copy from pageable memory returns before it has arrived, and a test's stream does not wait for the default one.
    expect_success(cudaDeviceSynchronize());
    return result;
  }
  template <class T>
  void fetch(std::vector<T>& into) const {
    expect_success(cudaMemcpy(into.data(), data(), bytes_, cudaMemcpyDeviceToHost));
  }
  bool intact() const {
    std::vector<char> guard(guard_bytes);
    expect_success(cudaMemcpy(guard.data(), data() + bytes_, guard_bytes, cudaMemcpyDeviceToHost));
    for (char const c : guard)
      if (c != 0x5a) return false;
    return true;
  }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data());
  }
  std::size_t bytes() const { return bytes_; }

 private:
  static constexpr std::size_t offset = 16, guard_bytes = 512;
  char* data() const { return block_.get() + offset; }
  struct release {
    void operator()(char* pointer) const { cudaFree(pointer); }
  };
  std::unique_ptr<char, release> block_;
  std::size_t bytes_ = 0;
};

/// A network, its plan and all its buffers on the current device.
template <class Cell, class Precision, class Schedule>
class device_network {
 public:
  using network = rnnopt::rnn<Cell, Precision, Schedule>;
  using storage = typename Precision::storage;
  using state = typename Precision::state;
  using accumulate = typename Precision::accumulate;
  static constexpr std::size_t other_states = Cell::states - 1;

  /// @param shift  elements by which the weights lie beyond an address aligned to 16 bytes
  explicit device_network(random_network<Cell, Precision> const& host, rnnopt::plan_options const& options = {},
                          std::size_t shift = 0)
      : host_(host),
        plan_(host.e, options),
        inference_workspace_(plan_.workspace_bytes(rnnopt::pass::inference)),
        training_workspace_(plan_.workspace_bytes(rnnopt::pass::training)),
        backward_workspace_(plan_.workspace_bytes(rnnopt::pass::backward)),
        reserve_(plan_.reserve_bytes()),
        packed_(plan_.packed_bytes()),
        x_(guarded::of(host.x)),
        weights_(guarded::of(shifted(host.weights, shift))),
        h_(guarded::of(host.h)),
        dy_(guarded::of(host.dy)),
        dh_(guarded::of(host.dh)),
        y_(host.dy.size() * sizeof(storage)),
        final_h_(host.h.size() * sizeof(storage)),
        dx_(host.x.size() * sizeof(storage)),
        initial_dh_(host.h.size() * sizeof(storage)),
        dweights_(host.weights.size() * sizeof(accumulate)) {
    for (std::size_t s = 0; s != other_states; ++s) {
      others_[s] = guarded::of(host.others[s]);
      dothers_[s] = guarded::of(host.dothers[s]);
      final_others_[s] = guarded(host.h.size() * sizeof(state));
      initial_dothers_[s] = guarded(host.h.size() * sizeof(state));
    }
    bound_weights_ = host.layout.bind(weights_.template as<storage const>() + shift);
    bound_gradients_ = host.layout.bind(dweights_.template as<accumulate>());
    if (packed_.bytes() > 0) {
      plan_.pack(nullptr, bound_weights_.data(), {packed_.template as<void>(), packed_.bytes()});
      expect_success(cudaDeviceSynchronize());
    }
  }

  network const& plan() const { return plan_; }

  typename network::forward_arguments forward_arguments(bool training) const {
    typename network::forward_arguments a;
    a.x = x_.template as<storage const>();
    a.weights = bound_weights_.data();
    a.packed = packed();
    a.initial.h = h_.template as<storage const>();
    a.y = y_.template as<storage>();
    a.final.h = final_h_.template as<storage>();
    for (std::size_t s = 0; s != other_states; ++s) {
      a.initial.others[s] = others_[s].template as<state const>();
      a.final.others[s] = final_others_[s].template as<state>();
    }
    guarded const& workspace = training ? training_workspace_ : inference_workspace_;
    a.workspace = {workspace.template as<void>(), workspace.bytes()};
    if (training) a.reserve = {reserve_.template as<void>(), reserve_.bytes()};
    return a;
  }

  typename network::backward_arguments backward_arguments() const {
    typename network::backward_arguments a;
    a.x = x_.template as<storage const>();
    a.weights = bound_weights_.data();
    a.packed = packed();
    a.dy = dy_.template as<storage const>();
    a.final_gradient.h = dh_.template as<storage const>();
    a.dx = dx_.template as<storage>();
    a.initial_gradient.h = initial_dh_.template as<storage>();
    for (std::size_t s = 0; s != other_states; ++s) {
      a.final_gradient.others[s] = dothers_[s].template as<state const>();
      a.initial_gradient.others[s] = initial_dothers_[s].template as<state>();
    }
    a.gradients = bound_gradients_.data();
    a.workspace = {backward_workspace_.template as<void>(), backward_workspace_.bytes()};
    a.reserve = rnnopt::const_memory(reserve_.template as<void>(), reserve_.bytes());
    return a;
  }

  /// NaN into everything that a run has to write before it reads it.
  void poison() {
    for (guarded* const buffer : written()) buffer->poison();
  }

  /// The first buffer whose guard was overwritten, or -1.
  int first_damaged() {
    if (!packed_.intact()) return 0;
    int index = 1;
    for (guarded* const buffer : written()) {
      if (!buffer->intact()) return index;
      ++index;
    }
    return -1;
  }

  guarded const& reserve() const { return reserve_; }
  guarded& dweights() { return dweights_; }

  results<Cell, Precision> fetch() const {
    expect_success(cudaDeviceSynchronize());
    results<Cell, Precision> r(host_);
    y_.fetch(r.y);
    final_h_.fetch(r.h);
    dx_.fetch(r.dx);
    initial_dh_.fetch(r.dh);
    dweights_.fetch(r.dweights);
    for (std::size_t s = 0; s != other_states; ++s) {
      final_others_[s].fetch(r.others[s]);
      initial_dothers_[s].fetch(r.dothers[s]);
    }
    return r;
  }

 private:
  static std::vector<storage> shifted(std::vector<storage> values, std::size_t shift) {
    values.insert(values.begin(), shift, storage());
    return values;
  }

  rnnopt::const_memory packed() const {
    return packed_.bytes() > 0 ? rnnopt::const_memory(packed_.template as<void>(), packed_.bytes())
                               : rnnopt::const_memory();
  }

  std::vector<guarded*> written() {
    std::vector<guarded*> all{&inference_workspace_,
                              &training_workspace_,
                              &backward_workspace_,
                              &reserve_,
                              &y_,
                              &final_h_,
                              &dx_,
                              &initial_dh_,
                              &dweights_};
    for (std::size_t s = 0; s != other_states; ++s) {
      all.push_back(&final_others_[s]);
      all.push_back(&initial_dothers_[s]);
    }
    return all;
  }

  random_network<Cell, Precision> const& host_;
  network plan_;
  guarded inference_workspace_, training_workspace_, backward_workspace_, reserve_, packed_;
  guarded x_, weights_, h_, dy_, dh_, y_, final_h_, dx_, initial_dh_, dweights_;
  std::array<guarded, other_states> others_, dothers_, final_others_, initial_dothers_;
  std::vector<rnnopt::line_weights<storage const>> bound_weights_;
  std::vector<rnnopt::line_weights<accumulate>> bound_gradients_;
};

}  // namespace rnnopt_tests

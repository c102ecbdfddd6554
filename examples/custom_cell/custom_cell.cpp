// A cell of one's own, from its equations to a trained network: on the GPU if this was compiled by nvcc and there is
// one, otherwise on the host. The task is an echo: at every step say what came in two steps ago.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <random>
#include <stdexcept>
#include <vector>

#include "rnnopt/gradient_check.hpp"
#include "rnnopt/rnnopt_host.hpp"
#if defined(__CUDACC__)
#include "rnnopt/rnn.cuh"
#endif

// [custom_cell]
struct minimal_gated_unit {
  using gates = rnnopt::gates<rnnopt::feed::both, rnnopt::feed::input, rnnopt::feed::recurrent>;
  static constexpr int states = 1;

  template <class Gates, class States>
  RNNOPT_HD static auto step(Gates const& pre, States const& previous) {
    auto const& [f, n_x, n_h] = pre;  // W_f x + R_f h + b_f, W_n x + b_nx, R_n h + b_nh
    auto const& [h] = previous;
    auto const gate = sigmoid(f);
    return rnnopt::pack((1 - gate) * h + gate * tanh(n_x + gate * n_h));
  }
};
// [custom_cell]

constexpr std::int64_t delay = 2;
constexpr float loud = 0.8F;  // outputs lie between -1 and 1

/// Random inputs of +-1 and what is to be said, both [steps, batch].
void draw_task(rnnopt::extents const& e, std::mt19937& random, float* x, std::vector<float>& wanted) {
  for (std::int64_t i = 0; i < e.steps * e.batch; ++i) {
    x[i] = random() % 2 == 0 ? 1.0F : -1.0F;
    wanted[std::size_t(i)] = i < delay * e.batch ? 0.0F : loud * x[i - delay * e.batch];
  }
}

/// Adam on the host, in a few lines.
struct adam {
  std::vector<float> mean, variance;
  int step = 0;
  void update(float* values, float const* gradient) {
    ++step;
    double const rate = 0.01 * std::sqrt(1 - std::pow(0.99, step)) / (1 - std::pow(0.9, step));
    for (std::size_t i = 0; i < mean.size(); ++i) {
      mean[i] += 0.1F * (gradient[i] - mean[i]);
      variance[i] += 0.01F * (gradient[i] * gradient[i] - variance[i]);
      values[i] -= float(rate * mean[i] / (std::sqrt(variance[i]) + 1e-8F));
    }
  }
};

/// Trains a network of the given kind; true if it learned. `allocate` gives memory that host and network can use,
/// `finish` waits for the network, `stream` is what its calls take before the arguments: a stream or nothing.
template <class Network, class Allocate, class Finish, class... Stream>
bool train(Allocate const& allocate, Finish const& finish, Stream... stream) {
  rnnopt::extents e;
  e.input = 1;
  e.hidden = 24;
  e.batch = 16;
  e.steps = 20;
  Network const network(e);
  rnnopt::weight_layout<typename Network::cell> const layout(e);
  std::size_t const parameters = std::size_t(layout.size()), outputs = std::size_t(e.steps * e.batch * e.hidden);

  auto const floats = [&](std::size_t count) { return static_cast<float*>(allocate(count * sizeof(float))); };
  auto const scratch = [&](std::size_t bytes) { return rnnopt::memory{allocate(bytes), bytes}; };
  float* const x = floats(std::size_t(e.steps * e.batch));  // [steps, batch, 1]
  float* const y = floats(outputs);                         // [steps, batch, hidden]
  float* const dy = floats(outputs);
  float* const weights = floats(parameters);
  float* const gradient = floats(parameters);

  auto const weights_of_lines = layout.bind(static_cast<float const*>(weights));
  auto const gradients_of_lines = layout.bind(gradient);
  typename Network::forward_arguments forward;
  forward.x = x;
  forward.weights = weights_of_lines.data();
  forward.y = y;
  forward.workspace = scratch(network.workspace_bytes(rnnopt::pass::training));
  forward.reserve = scratch(network.reserve_bytes());
  typename Network::backward_arguments backward;
  backward.x = x;
  backward.weights = weights_of_lines.data();
  backward.gradients = gradients_of_lines.data();
  backward.dy = dy;
  backward.workspace = scratch(network.workspace_bytes(rnnopt::pass::backward));
  backward.reserve = forward.reserve;

  std::mt19937 random(1);
  for (std::size_t i = 0; i < parameters; ++i)
    weights[i] = float((double(random()) / 2147483648.0 - 1) / std::sqrt(double(e.hidden)));
  std::vector<float> wanted(std::size_t(e.steps * e.batch));
  adam optimiser{std::vector<float>(parameters), std::vector<float>(parameters)};

  double first = 0, loss = 0;
  for (int iteration = 0; iteration <= 300; ++iteration) {
    draw_task(e, random, x, wanted);
    network.forward_training(stream..., forward);
    finish();
    // Unit 0 speaks for the network; the loss is its mean squared error.
    loss = 0;
    for (std::size_t row = 0; row < wanted.size(); ++row) {
      float const error = y[row * std::size_t(e.hidden)] - wanted[row];
      loss += double(error) * error / double(wanted.size());
      dy[row * std::size_t(e.hidden)] = 2 * error / float(wanted.size());
    }
    network.backward(stream..., backward);
    finish();
    optimiser.update(weights, gradient);
    if (iteration == 0) first = loss;
    if (iteration % 50 == 0) std::printf("iteration %3d, loss %.4f\n", iteration, loss);
  }
  return loss < 0.1 * first;
}

int main() try {
  rnnopt::gradient_check_result const check = rnnopt::gradient_check<minimal_gated_unit>();
  std::printf("derived backward against central differences: %.1e\n", check.derived.error);
  if (!check.passes()) return 1;

  bool learned = false;
  int gpus = 0;
#if defined(__CUDACC__)
  if (cudaGetDeviceCount(&gpus) != cudaSuccess) gpus = 0;
  if (gpus > 0) {
    std::printf("training on the GPU\n");
    std::vector<std::shared_ptr<void>> memory;
    auto const allocate = [&](std::size_t bytes) {
      void* pointer = nullptr;
      if (cudaMallocManaged(&pointer, bytes) != cudaSuccess) throw std::bad_alloc();
      memory.emplace_back(pointer, cudaFree);
      return cudaMemset(pointer, 0, bytes) == cudaSuccess ? pointer : nullptr;
    };
    auto const finish = [] {
      if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error(cudaGetErrorString(cudaGetLastError()));
    };
    using network = rnnopt::rnn<minimal_gated_unit, rnnopt::fp32, rnnopt::schedules::stepwise<>>;
    learned = train<network>(allocate, finish, cudaStreamPerThread);
  }
#endif
  if (gpus == 0) {
    std::printf("training on the host\n");
    std::vector<std::unique_ptr<std::max_align_t[]>> memory;
    auto const allocate = [&](std::size_t bytes) {
      memory.push_back(std::make_unique<std::max_align_t[]>(bytes / sizeof(std::max_align_t) + 1));
      return static_cast<void*>(memory.back().get());
    };
    using network = rnnopt::host_rnn<minimal_gated_unit, rnnopt::fp32, rnnopt::schedules::stepwise<>>;
    learned = train<network>(allocate, [] {});
  }
  std::printf(learned ? "learned\n" : "did not learn\n");
  return learned ? 0 : 1;
} catch (std::exception const& error) {
  std::fprintf(stderr, "custom_cell: %s\n", error.what());
  return 1;
}

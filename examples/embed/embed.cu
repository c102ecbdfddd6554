// Using rnnopt in a program that has its own memory and its own stream: a two-layer LSTM, forward and backward, held
// against the host executor.

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "rnnopt/rnnopt.cuh"

void check(cudaError_t code) {
  if (code != cudaSuccess) throw std::runtime_error(cudaGetErrorString(code));
}

/// Device memory and its way there and back; any other owner of memory would do.
class device_floats {
 public:
  explicit device_floats(std::size_t size) : size_(size) { check(cudaMalloc(&data_, size * sizeof(float))); }
  explicit device_floats(std::vector<float> const& from) : device_floats(from.size()) {
    check(cudaMemcpy(data_, from.data(), size_ * sizeof(float), cudaMemcpyHostToDevice));
  }
  device_floats(device_floats const&) = delete;
  device_floats& operator=(device_floats const&) = delete;
  ~device_floats() { cudaFree(data_); }

  float* data() const { return data_; }
  std::vector<float> copy() const {
    std::vector<float> to(size_);
    check(cudaMemcpy(to.data(), data_, size_ * sizeof(float), cudaMemcpyDeviceToHost));
    return to;
  }

 private:
  std::size_t size_;
  float* data_ = nullptr;
};

/// Relative error; anything that is not a number counts as infinitely wrong.
double error_of(std::vector<float> const& got, std::vector<float> const& expected) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    difference += std::pow(double(got[i]) - expected[i], 2);
    size += std::pow(double(expected[i]), 2);
  }
  double const error = std::sqrt(difference / size);
  return std::isfinite(error) ? error : HUGE_VAL;
}

int main() try {
  rnnopt::extents const e{2, 48, 96, 8, 30};  // layers, input, hidden, batch, steps
  rnnopt::weight_layout<rnnopt::lstm> const layout(e);
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  auto const draw = [&](std::int64_t size, float scale) {
    std::vector<float> values(static_cast<std::size_t>(size));
    for (float& value : values) value = scale * normal(random);
    return values;
  };
  auto const host_x = draw(e.steps * e.batch * e.input, 1), host_dy = draw(e.steps * e.batch * e.hidden, 1);
  auto const host_weights = draw(layout.size(), 0.1F);

  device_floats const x_buffer(host_x), dy_buffer(host_dy), weights(host_weights);
  device_floats const y_buffer(host_dy.size()), dx_buffer(host_x.size()), gradients(host_weights.size());
  float const *const x = x_buffer.data(), *const dy = dy_buffer.data();
  float *const y = y_buffer.data(), *const dx = dx_buffer.data();
  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream));
  auto const allocate = [](std::size_t bytes) {
    rnnopt::memory result{nullptr, bytes};
    check(cudaMalloc(&result.data, bytes));
    return result;
  };

  // [embed]
  using network = rnnopt::rnn<rnnopt::lstm, rnnopt::fp32, rnnopt::schedules::stepwise<>>;
  network const net(e);  // plans for these extents on the current device
  auto const workspace =
      allocate(std::max(net.workspace_bytes(rnnopt::pass::training), net.workspace_bytes(rnnopt::pass::backward)));
  auto const reserve = allocate(net.reserve_bytes());       // what forward leaves for backward
  auto const w = layout.bind<float const>(weights.data());  // W, R and b of every layer, by pointer
  auto const dw = layout.bind<float>(gradients.data());

  network::forward_arguments f;  // what stays null is zero, or not wanted
  f.x = x, f.weights = w.data(), f.y = y, f.workspace = workspace, f.reserve = reserve;
  net.forward_training(stream, f);
  network::backward_arguments b;
  b.x = x, b.weights = w.data(), b.dy = dy, b.dx = dx, b.gradients = dw.data();
  b.workspace = workspace, b.reserve = reserve;
  net.backward(stream, b);
  // [embed]

  check(cudaStreamSynchronize(stream));

  // The same on the host: same arguments, host memory, no stream.
  rnnopt::host_rnn<rnnopt::lstm, rnnopt::fp32, rnnopt::schedules::stepwise<>> const oracle(e);
  std::vector<float> host_y(host_dy.size()), host_dx(host_x.size()), host_gradients(host_weights.size());
  auto const host_w = layout.bind<float const>(host_weights.data());
  auto const host_dw = layout.bind<float>(host_gradients.data());
  std::vector<std::max_align_t> blocks[2];
  auto const allocate_on_host = [](std::vector<std::max_align_t>& block, std::size_t bytes) {
    block.resize(bytes / sizeof(std::max_align_t) + 1);
    return rnnopt::memory{block.data(), bytes};
  };
  auto const host_workspace = allocate_on_host(blocks[0], std::max(oracle.workspace_bytes(rnnopt::pass::training),
                                                                   oracle.workspace_bytes(rnnopt::pass::backward)));
  auto const host_reserve = allocate_on_host(blocks[1], oracle.reserve_bytes());
  network::forward_arguments host_f;
  host_f.x = host_x.data(), host_f.weights = host_w.data(), host_f.y = host_y.data();
  host_f.workspace = host_workspace, host_f.reserve = host_reserve;
  oracle.forward_training(host_f);
  network::backward_arguments host_b;
  host_b.x = host_x.data(), host_b.weights = host_w.data(), host_b.dy = host_dy.data(), host_b.dx = host_dx.data();
  host_b.gradients = host_dw.data(), host_b.workspace = host_workspace, host_b.reserve = host_reserve;
  oracle.backward(host_b);

  double const errors[] = {error_of(y_buffer.copy(), host_y), error_of(dx_buffer.copy(), host_dx),
                           error_of(gradients.copy(), host_gradients)};
  std::printf("relative error against the host: y %.1e, dx %.1e, weight gradients %.1e\n", errors[0], errors[1],
              errors[2]);
  bool const good = *std::max_element(errors, errors + 3) < 1e-5;
  std::printf(good ? "good\n" : "wrong\n");

  cudaFree(workspace.data);
  cudaFree(reserve.data);
  cudaStreamDestroy(stream);
  return good ? 0 : 1;
} catch (std::exception const& error) {
  std::fprintf(stderr, "embed: %s\n", error.what());
  return 1;
}

#include "preconditions.hpp"

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include "device_network.cuh"
#include "rnnopt/schedules/stepwise.hpp"

namespace rnnopt_tests {
namespace {

using transposed = rnnopt::schedules::stepwise<rnnopt::schedules::transposed_weights>;

template <class Schedule>
struct device_adapter {
  template <class Cell, class Precision>
  using network = rnnopt::rnn<Cell, Precision, Schedule>;
  static constexpr char const* name = "rnn";
  static constexpr bool lengths = false;
  static constexpr bool packed = Schedule::transposed_weights;

  template <class Network>
  static Network make(rnnopt::extents const& e) {
    return Network(e);
  }
  template <class Network, class Arguments>
  static void forward(Network& n, Arguments const& a) {
    n.forward(nullptr, a);
  }
  template <class Network, class Arguments>
  static void forward_training(Network& n, Arguments const& a) {
    n.forward_training(nullptr, a);
  }
  template <class Network, class Arguments>
  static void backward_data(Network& n, Arguments const& a) {
    n.backward_data(nullptr, a);
  }
  template <class Network, class Arguments>
  static void weight_gradient(Network& n, Arguments const& a) {
    n.weight_gradient(nullptr, a);
  }
  template <class Network, class Arguments>
  static void backward(Network& n, Arguments const& a) {
    n.backward(nullptr, a);
  }
  static void* allocate(std::size_t bytes) {
    void* pointer = nullptr;
    expect_success(cudaMalloc(&pointer, bytes));
    return pointer;
  }
  static void release(void* pointer) { cudaFree(pointer); }
  static void fill(void* pointer, unsigned char value, std::size_t bytes) {
    expect_success(cudaMemset(pointer, value, bytes));
  }
  static bool holds(void const* pointer, unsigned char value, std::size_t bytes) {
    std::vector<unsigned char> content(bytes);
    expect_success(cudaMemcpy(content.data(), pointer, bytes, cudaMemcpyDeviceToHost));
    for (unsigned char const c : content)
      if (c != value) return false;
    return true;
  }
};

TEST(preconditions, extents) {
  for (std::string const& failure : check_bad_extents<device_adapter<rnnopt::schedules::stepwise<>>>())
    ADD_FAILURE() << failure;
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

template <class Schedule>
void check_calls() {
  bad_calls<device_adapter<Schedule>> calls;
  for (std::string const& failure : calls.check()) ADD_FAILURE() << failure;
  EXPECT_GE(calls.cases(), 40);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "the context is not clean";
}
TEST(preconditions, calls) { check_calls<rnnopt::schedules::stepwise<>>(); }
TEST(preconditions, calls_with_packed_weights) { check_calls<transposed>(); }

using small_lstm = rnnopt::rnn<rnnopt::lstm, rnnopt::fp32, rnnopt::schedules::stepwise<>>;

template <class Function>
void expect_error(rnnopt::errc code, std::string const& text, Function&& function) {
  try {
    function();
    ADD_FAILURE() << "accepted, wanted: " << text;
  } catch (rnnopt::logic_error const& error) {
    EXPECT_EQ(error.code(), code);
    EXPECT_EQ(std::string(error.what()), text);
  }
}

TEST(preconditions, both_directions_are_refused) {
  rnnopt::extents e;
  e.directions = 2;
  expect_error(rnnopt::errc::not_supported,
               "rnnopt: rnn: directions is 2, the GPU executor runs 1 (host_rnn runs both)", [&] { small_lstm n(e); });
}

TEST(preconditions, lengths_are_refused) {
  random_network<rnnopt::lstm, rnnopt::fp32> const host(rnnopt::extents{1, 4, 6, 3, 5, 1});
  device_network<rnnopt::lstm, rnnopt::fp32, rnnopt::schedules::stepwise<>> device(host);
  std::int32_t const lengths[3] = {5, 5, 5};
  auto forward = device.forward_arguments(true);
  forward.lengths = lengths;
  std::string const rest = ": lengths is given, the GPU executor runs all rows for `steps` (host_rnn takes lengths)";
  expect_error(rnnopt::errc::not_supported, "rnnopt: rnn::forward_training" + rest,
               [&] { device.plan().forward_training(nullptr, forward); });
  auto backward = device.backward_arguments();
  backward.lengths = lengths;
  expect_error(rnnopt::errc::not_supported, "rnnopt: rnn::backward" + rest,
               [&] { device.plan().backward(nullptr, backward); });
}

TEST(preconditions, packing) {
  rnnopt::extents const e{1, 4, 8, 3, 5, 1};
  rnnopt::weight_layout<rnnopt::lstm> const layout(e);
  guarded const weights(std::size_t(layout.size()) * sizeof(float));
  auto const bound = layout.bind(weights.as<float const>());
  rnnopt::rnn<rnnopt::lstm, rnnopt::fp32, transposed> const net(e);
  guarded const packed(net.packed_bytes());
  std::size_t const needed = net.packed_bytes();
  void* const data = packed.as<void>();
  EXPECT_EQ(needed, std::size_t(4 * 4 * 8 * (4 + 8)));
  expect_error(rnnopt::errc::null_pointer, "rnnopt: rnn::pack: weights is null, needs an array of line_weights", [&] {
    net.pack(nullptr, nullptr, {data, needed});
  });
  expect_error(rnnopt::errc::packed_too_small,
               "rnnopt: rnn::pack: packed has " + std::to_string(needed - 1) + " bytes, needs " +
                   std::to_string(needed) + " (see packed_bytes())",
               [&] {
                 net.pack(nullptr, bound.data(), {data, needed - 1});
               });
  expect_error(rnnopt::errc::null_pointer, "rnnopt: rnn::pack: packed is null, needs a buffer", [&] {
    net.pack(nullptr, bound.data(), {nullptr, needed});
  });
  expect_error(rnnopt::errc::overlapping,
               "rnnopt: rnn::pack: weights[0].recurrent and packed overlap (give each its own buffer)", [&] {
                 auto overlapping = bound;
                 overlapping[0].recurrent = static_cast<float const*>(data);
                 net.pack(nullptr, overlapping.data(), {data, needed});
               });
  small_lstm const plain(e);
  EXPECT_EQ(plain.packed_bytes(), 0U);
  expect_error(rnnopt::errc::packed_not_read,
               "rnnopt: rnn::pack: packed is given, this network reads the weights themselves (leave it null where "
               "packed_bytes() is 0)",
               [&] {
                 plain.pack(nullptr, bound.data(), {data, needed});
               });
  plain.pack(nullptr, bound.data(), {});
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_TRUE(packed.intact());
}

TEST(preconditions, devices_are_compared) {
  expect_error(
      rnnopt::errc::wrong_device,
      "rnnopt: rnn::forward: the current device is 1, the plan is for device 0 (call cudaSetDevice, or plan on "
      "that device)",
      [] { rnnopt::detail::check_same_device("rnn::forward", "the current device", 1, 0); });
}

TEST(preconditions, a_plan_belongs_to_its_device) {
  int devices = 0;
  expect_success(cudaGetDeviceCount(&devices));
  if (devices < 2) GTEST_SKIP() << "needs two GPUs";
  random_network<rnnopt::lstm, rnnopt::fp32> const host(rnnopt::extents{1, 4, 6, 3, 5, 1});
  device_network<rnnopt::lstm, rnnopt::fp32, rnnopt::schedules::stepwise<>> device(host);
  expect_success(cudaSetDevice(1));
  expect_error(
      rnnopt::errc::wrong_device,
      "rnnopt: rnn::forward: the current device is 1, the plan is for device 0 (call cudaSetDevice, or plan on "
      "that device)",
      [&] { device.plan().forward(nullptr, device.forward_arguments(false)); });
  expect_success(cudaSetDevice(0));
}

}  // namespace
}  // namespace rnnopt_tests

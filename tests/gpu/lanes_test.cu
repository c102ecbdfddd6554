#include <cuda_runtime.h>

#include "device_network.cuh"
#include "rnnopt/cells/gru.hpp"
#include "rnnopt/recorder.hpp"
#include "rnnopt/schedules/stepwise.hpp"
#include "rnnopt/schedules/wavefront.hpp"

/// Lanes, streams and schedules that misbehave: neither speed nor company changes a bit.

namespace rnnopt_tests {

/// A schedule that emits a lane that cannot be.
struct lost {
  static std::int64_t concurrent_layers(rnnopt::network const&) { return 1; }
  template <class Sink>
  static void forward(rnnopt::network const&, Sink& sink) {
    sink.pointwise(-1, {0, 0}, 0);
  }
  template <class Sink>
  static void backward(rnnopt::network const&, rnnopt::gradient_request, Sink&) {}
};

/// A schedule that asks for a row block that W has not.
struct greedy {
  static std::int64_t concurrent_layers(rnnopt::network const&) { return 1; }
  template <class Sink>
  static void forward(rnnopt::network const& n, Sink& sink) {
    sink.gate_input_product(0, {0, 0}, 0, 1, n.input_gates);
  }
  template <class Sink>
  static void backward(rnnopt::network const&, rnnopt::gradient_request, Sink&) {}
};

/// A schedule that emits an operation whose kernels it does not announce.
template <rnnopt::operation_kind Kind>
struct unannounced {
  static constexpr rnnopt::operation one{Kind, 0, {0, 0}, 0, 1};
  static constexpr bool is_gradient = Kind >= rnnopt::operation_kind::pointwise_gradient;

  static std::int64_t concurrent_layers(rnnopt::network const&) { return 1; }
  template <class Sink>
  static void forward(rnnopt::network const&, Sink& sink) {
    if constexpr (!is_gradient) rnnopt::emit(one, sink);
  }
  template <class Sink>
  static void backward(rnnopt::network const&, rnnopt::gradient_request, Sink& sink) {
    if constexpr (is_gradient) rnnopt::emit(one, sink);
  }
};

/// A schedule that emits other products when it runs than when it was planned.
struct fickle {
  static inline std::int64_t steps = 1;
  static std::int64_t concurrent_layers(rnnopt::network const&) { return 1; }
  template <class Sink>
  static void forward(rnnopt::network const&, Sink& sink) {
    sink.input_product(0, {0, 0}, 0, steps);
  }
  template <class Sink>
  static void backward(rnnopt::network const&, rnnopt::gradient_request, Sink&) {}
};

namespace {

using wavefront = rnnopt::schedules::wavefront<rnnopt::schedules::input_steps<3>>;

rnnopt::extents const usual{2, 4, 6, 3, 5, 1};

/// Repeats an operation of one lane, which changes nothing but how long that lane takes.
template <class Sink>
struct dawdling_sink {
  Sink& to;
  int slow;

  int times(int lane) const { return lane == slow ? 40 : 1; }
  void input_product(int lane, rnnopt::line l, std::int64_t first, std::int64_t steps) {
    for (int i = 0; i < times(lane); ++i) to.input_product(lane, l, first, steps);
  }
  void recurrent_product(int lane, rnnopt::line l, std::int64_t step) {
    for (int i = 0; i < times(lane); ++i) to.recurrent_product(lane, l, step);
  }
  void step(int lane, rnnopt::line l, std::int64_t step) {
    for (int i = 0; i < times(lane); ++i) to.step(lane, l, step);
  }
  // Not repeated: they add to the gradients of the states.
  void step_gradient(int lane, rnnopt::line l, std::int64_t step) { to.step_gradient(lane, l, step); }
  void pointwise(int lane, rnnopt::line l, std::int64_t step) { to.pointwise(lane, l, step); }
  void pointwise_gradient(int lane, rnnopt::line l, std::int64_t step) { to.pointwise_gradient(lane, l, step); }
  void recurrent_gradient(int lane, rnnopt::line l, std::int64_t step) {
    for (int i = 0; i < times(lane); ++i) to.recurrent_gradient(lane, l, step);
  }
  void input_gradient(int lane, rnnopt::line l, std::int64_t first, std::int64_t steps) {
    for (int i = 0; i < times(lane); ++i) to.input_gradient(lane, l, first, steps);
  }
  void weight_gradient(int lane, rnnopt::line l) { to.weight_gradient(lane, l); }
  void signal(int lane, int event) { to.signal(lane, event); }
  void wait(int lane, int event) { to.wait(lane, event); }
};

/// A schedule with one lane slowed down.
template <class Schedule, int Slow>
struct dawdling {
  static constexpr bool fused_steps = rnnopt::detail::fused_steps_of<Schedule>();
  static std::int64_t concurrent_layers(rnnopt::network const& n) { return Schedule::concurrent_layers(n); }
  template <class Sink>
  static void forward(rnnopt::network const& n, Sink& sink) {
    dawdling_sink<Sink> slow{sink, Slow};
    Schedule::forward(n, slow);
  }
  template <class Sink>
  static void backward(rnnopt::network const& n, rnnopt::gradient_request wanted, Sink& sink) {
    dawdling_sink<Sink> slow{sink, Slow};
    Schedule::backward(n, wanted, slow);
  }
};

template <class Schedule>
results<rnnopt::gru, rnnopt::fp32> run_gru(random_network<rnnopt::gru, rnnopt::fp32> const& host) {
  device_network<rnnopt::gru, rnnopt::fp32, Schedule> network(host);
  network.plan().forward_training(nullptr, network.forward_arguments(true));
  network.plan().backward(nullptr, network.backward_arguments());
  return network.fetch();
}

TEST(lanes, slow_lanes_change_nothing) {
  random_network<rnnopt::gru, rnnopt::fp32> const host(rnnopt::extents{3, 32, 64, 8, 11, 1});
  SCOPED_TRACE(host.description());
  auto const expected = run_gru<wavefront>(host);
  for (auto const& got : {run_gru<dawdling<wavefront, 0>>(host), run_gru<dawdling<wavefront, 1>>(host),
                          run_gru<dawdling<wavefront, 2>>(host)})
    for (std::string const& failure : different_bits(got, expected)) ADD_FAILURE() << failure;
}

template <class Schedule, int Lanes>
void expect_slow_lanes_change_nothing() {
  random_network<rnnopt::gru, rnnopt::fp32> const host(rnnopt::extents{3, 32, 64, 8, 11, 1});
  SCOPED_TRACE(host.description());
  auto const expected = run_gru<Schedule>(host);
  rnnopt::detail::for_each_index<Lanes>([&](auto lane) {
    SCOPED_TRACE("lane " + std::to_string(lane.value));
    for (std::string const& failure : different_bits(run_gru<dawdling<Schedule, int(lane.value)>>(host), expected))
      ADD_FAILURE() << failure;
  });
}

TEST(lanes, slow_lanes_change_nothing_of_fused_steps) {
  namespace schedules = rnnopt::schedules;
  using three = schedules::input_steps<3>;
  expect_slow_lanes_change_nothing<schedules::stepwise<schedules::fused_steps, schedules::overlapped, three>, 2>();
  expect_slow_lanes_change_nothing<schedules::wavefront<schedules::fused_steps, schedules::overlapped, three>, 6>();
}

__global__ void copy_late(float const* from, float* to, int count, long long cycles) {
  long long const start = clock64();
  while (clock64() - start < cycles) {
  }
  for (int i = threadIdx.x; i < count; i += blockDim.x) to[i] = from[i];
}

/// Side lanes start after earlier work in the caller's stream: here x arrives only when a slow kernel has written it.
TEST(lanes, side_lanes_wait_for_the_caller) {
  random_network<rnnopt::gru, rnnopt::fp32> const host(rnnopt::extents{3, 16, 32, 8, 9, 1});
  auto const expected = run_gru<wavefront>(host);
  device_network<rnnopt::gru, rnnopt::fp32, wavefront> network(host);
  guarded late(host.x.size() * sizeof(float));
  auto forward = network.forward_arguments(true);
  auto backward = network.backward_arguments();
  float const* const x = forward.x;
  forward.x = backward.x = late.as<float>();
  test_stream stream;
  copy_late<<<1, 128, 0, stream>>>(x, late.as<float>(), int(host.x.size()), 20000000);
  network.plan().forward_training(stream, forward);
  network.plan().backward(stream, backward);
  for (std::string const& failure : different_bits(network.fetch(), expected)) ADD_FAILURE() << failure;
}

template <class Function>
void expect_inconsistent(std::string const& text, Function&& function) {
  try {
    function();
    ADD_FAILURE() << "accepted, wanted: " << text;
  } catch (rnnopt::logic_error const& error) {
    EXPECT_EQ(error.code(), rnnopt::errc::schedule_inconsistent);
    EXPECT_EQ(std::string(error.what()), text);
  }
}

TEST(lanes, inconsistent_schedules) {
  using rnnopt::rnn;
  expect_inconsistent("rnnopt: rnn: the schedule uses lane -1 (lanes count from 0 to 4095)",
                      [] { rnn<rnnopt::gru, rnnopt::fp32, lost> const network(usual); });
  expect_inconsistent("rnnopt: rnn: the schedule uses gate 3 (gates count from 0 to 2)",
                      [] { rnn<rnnopt::gru, rnnopt::fp32, greedy> const network(usual); });
  random_network<rnnopt::gru, rnnopt::fp32> const host(usual);
  device_network<rnnopt::gru, rnnopt::fp32, fickle> network(host);
  fickle::steps = 2;
  expect_inconsistent(
      "rnnopt: rnn: the schedule emits a product that it did not emit while planning (emit the same operations every "
      "time)",
      [&] { network.plan().forward_training(nullptr, network.forward_arguments(true)); });
  fickle::steps = 1;
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

template <rnnopt::operation_kind Kind>
void expect_unannounced(std::string const& operation, std::string const& constant) {
  expect_inconsistent("rnnopt: rnn: the schedule emits " + operation +
                          " without announcing it (write static constexpr " + constant + " into the schedule)",
                      [] { rnnopt::rnn<rnnopt::gru, rnnopt::fp32, unannounced<Kind>> const network(usual); });
}
TEST(lanes, operations_that_are_not_announced) {
  using kind = rnnopt::operation_kind;
  expect_unannounced<kind::step>("step", "bool fused_steps = true");
  expect_unannounced<kind::step_gradient>("step_gradient", "bool fused_steps = true");
  expect_unannounced<kind::sweep>("sweep", "rnnopt::team sweeps = rnnopt::team::cluster");
  expect_unannounced<kind::sweep_gradient>("sweep_gradient", "rnnopt::team sweeps = rnnopt::team::cluster");
  expect_unannounced<kind::elementwise>("elementwise", "bool elementwise = true");
  expect_unannounced<kind::elementwise_gradient>("elementwise_gradient", "bool elementwise = true");
}

/// Sweeps over so many steps, whatever the network has.
template <std::int64_t Steps>
struct sweeping {
  static constexpr rnnopt::team sweeps = rnnopt::team::cluster;
  static std::int64_t concurrent_layers(rnnopt::network const&) { return 1; }
  template <class Sink>
  static void forward(rnnopt::network const&, Sink& sink) {
    sink.sweep(0, {0, 0}, 0, Steps);
  }
  template <class Sink>
  static void backward(rnnopt::network const&, rnnopt::gradient_request, Sink&) {}
};
TEST(lanes, sweeps_of_no_steps) {
  expect_inconsistent("rnnopt: rnn: the schedule sweeps over 0 steps (a sweep has from 1 to 2^30 - 1 steps)",
                      [] { rnnopt::rnn<rnnopt::gru, rnnopt::fp16, sweeping<0>> const network(usual); });
  rnnopt::extents empty = usual;
  empty.steps = 0;
  EXPECT_NO_THROW((rnnopt::rnn<rnnopt::gru, rnnopt::fp16, sweeping<0>>(empty)));
}

/// Two plans on two streams at once, many times.
TEST(lanes, two_streams) {
  using network = device_network<rnnopt::gru, rnnopt::fp32, wavefront>;
  random_network<rnnopt::gru, rnnopt::fp32> const one(rnnopt::extents{3, 16, 32, 8, 9, 1}),
      two(rnnopt::extents{2, 8, 48, 5, 13, 1});
  auto const expected_one = run_gru<wavefront>(one);
  auto const expected_two = run_gru<wavefront>(two);
  network first(one), second(two);
  test_stream a, b;
  for (int round = 0; round < 200; ++round) {
    first.plan().forward_training(a, first.forward_arguments(true));
    second.plan().forward_training(b, second.forward_arguments(true));
    first.plan().backward(a, first.backward_arguments());
    second.plan().backward(b, second.backward_arguments());
    if (round % 50 != 49) continue;
    for (std::string const& failure : different_bits(first.fetch(), expected_one)) ADD_FAILURE() << failure;
    for (std::string const& failure : different_bits(second.fetch(), expected_two)) ADD_FAILURE() << failure;
  }
}

}  // namespace
}  // namespace rnnopt_tests

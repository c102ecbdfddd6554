#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "device_network.cuh"
#include "host_reference.hpp"
#include "rnnopt/host_rnn.hpp"
#include "rnnopt/schedules/stepwise.hpp"

/// What every cell has to pass on the GPU, in every precision and schedule: a typed test suite that each cell's file
/// instantiates.

namespace rnnopt_tests {

template <class Cell, class Precision, class Schedule>
struct network_case {
  using cell = Cell;
  using precision = Precision;
  using schedule = Schedule;
};

/// Results of fewer numbers than this are no sample: one that cancels is most of them.
inline constexpr std::size_t few_numbers = 8;
/// What they may be off besides, in bounds, at most.
inline constexpr double few_bounds = 4;

/// As beyond, each result with a bound of its own.
template <class Cell, class Precision, class Other>
std::vector<std::string> beyond_each(std::vector<double> const& bounds, results<Cell, Precision> const& got,
                                     results<Cell, Other> const& reference) {
  std::vector<std::string> failures;
  auto next = bounds.begin();
  got.for_each(reference, [&](std::string const& name, auto const& a, auto const& b) {
    double const error = relative_error(a, b), allowed = *next++;
    if (!std::isfinite(error) || error > allowed)
      failures.push_back(name + ": relative error " + std::to_string(error) + ", bound " + std::to_string(allowed));
  });
  return failures;
}

/// Holds what the GPU computed against the host.
///
/// fp64: against double, forward and backward. fp32: too, and may be as far from it as its bound and four times the
/// host's own fp32 besides: where a gradient is one number that cancels (hidden 1), the host's is beyond the bound in
/// one network of a thousand. fp16 and bf16: against the host rounding at the same places, its backward on the reserve
/// that the GPU left: where a derivative jumps (relu), one rounding of a pre-activation would otherwise decide between
/// two gradients that are both right; a result of a few numbers may be as far from the host besides as the host is from
/// double, for the reason given for fp32. tf32 may round the operands of a product or may not, and does not for shapes
/// that its units cannot take: it is held against double, and may be four times as far from it as the host, whose
/// rounding to nearest errs half as far as cutting off does, besides fp32's own bound. In tf32 the host's error of a
/// result of a few numbers is too much a matter of chance to measure by: there it is the largest of all its results.
template <class Schedule, class Cell, class Precision>
std::vector<std::string> differences(random_network<Cell, Precision> const& network,
                                     results<Cell, Precision> const& got, std::vector<char> const& reserve) {
  using rnnopt::fp64;
  double const bound = tolerance<Precision>(network.e.steps);
  if constexpr (std::is_same_v<Precision, rnnopt::tf32> || std::is_same_v<Precision, rnnopt::fp32>) {
    auto const wide = network.template in<fp64>();
    auto const exact = host_results<Schedule>(wide);
    auto const emulated = host_results<Schedule>(network);
    double largest = 0;
    emulated.for_each(exact, [&](std::string const&, auto const& a, auto const& b) {
      largest = std::max(largest, relative_error(a, b));
    });
    std::vector<double> bounds;
    emulated.for_each(exact, [&](std::string const&, auto const& a, auto const& b) {
      bool const measured = std::is_same_v<Precision, rnnopt::fp32> || a.size() >= few_numbers;
      double const error = measured ? relative_error(a, b) : std::min(largest, tolerance<Precision>(network.e.steps));
      bounds.push_back(tolerance<rnnopt::fp32>(network.e.steps) + 4 * error);
    });
    return beyond_each(bounds, got, exact);
  } else if constexpr (sizeof(typename Precision::storage) == 2) {
    host_run<Cell, Precision, Schedule> host(network);
    host.train();
    std::memcpy(host.reserve.data(), reserve.data(), reserve.size());
    host.backpropagate();
    auto failures = beyond(bound, got, host.out);
    if (failures.empty()) return failures;
    auto const wide = network.template in<fp64>();
    auto const exact = host_results<Schedule>(wide);
    std::vector<double> bounds;
    host.out.for_each(exact, [&](std::string const&, auto const& a, auto const& b) {
      bounds.push_back(bound + (a.size() < few_numbers ? std::min(relative_error(a, b), few_bounds * bound) : 0));
    });
    return beyond_each(bounds, got, host.out);
  } else {
    auto const wide = network.template in<fp64>();
    return beyond(bound, got, host_results<Schedule>(wide));
  }
}

template <class Case>
class network : public testing::Test {
 protected:
  using cell = typename Case::cell;
  using precision = typename Case::precision;
  using schedule = typename Case::schedule;

  /// What does not fit on the chip is refused, with the reason; what has to fit is in the tests of the schedules.
  static void expect_refused(rnnopt::extents const& e, std::string const& reason) {
    try {
      rnnopt::rnn<cell, precision, schedule> const plan(e);
      ADD_FAILURE() << "planned although " << reason;
    } catch (rnnopt::logic_error const& error) {
      bool const any = reason.find("compute capability") == std::string::npos;  // some extents would fit
      EXPECT_EQ(error.code(), any ? rnnopt::errc::does_not_fit : rnnopt::errc::not_supported);
      EXPECT_EQ(
          std::string(error.what()),
          "rnnopt: rnn: " + reason + " (schedules without sweeps need no room on the chip and run in every precision)");
    }
  }

  /// `shift`: see device_network.
  void run(std::int64_t layers, std::int64_t steps, std::int64_t batch, std::int64_t input, std::int64_t hidden,
           std::size_t shift = 0) {
    rnnopt::extents e;
    e.layers = layers;
    e.steps = steps;
    e.batch = batch;
    e.input = input;
    e.hidden = hidden;
    random_network<cell, precision> const host(e);
    SCOPED_TRACE(host.description());
    if (std::string const reason = rnnopt::rnn<cell, precision, schedule>::misfit(e); !reason.empty()) {
      if constexpr (rnnopt::detail::sweeps_of<schedule>() == rnnopt::team::none) FAIL() << reason;
      return expect_refused(e, reason);
    }
    test_stream stream;
    device_network<cell, precision, schedule> device(host, {}, shift);
    auto const inference = device.forward_arguments(false);
    auto const training = device.forward_arguments(true);
    auto const backward = device.backward_arguments();

    device.plan().forward(stream, inference);
    auto const inferred = device.fetch();
    device.poison();
    expect_success(cudaDeviceSynchronize());
    device.plan().forward_training(stream, training);
    device.plan().backward(stream, backward);
    auto const first = device.fetch();
    std::vector<char> reserve(device.reserve().bytes());
    device.reserve().fetch(reserve);
    for (std::string const& failure : differences<schedule>(host, first, reserve)) ADD_FAILURE() << failure;
    EXPECT_TRUE(same_bits(inferred.y, first.y)) << "inference and training differ in y";
    EXPECT_TRUE(same_bits(inferred.h, first.h)) << "inference and training differ in the final h";
    EXPECT_EQ(device.first_damaged(), -1) << "wrote beyond a buffer";

    // Once more in streams, the passes apart; the reserve stays as it is.
    std::vector<char> before(reserve.size()), after(reserve.size());
    device.poison();
    expect_success(cudaDeviceSynchronize());
    device.plan().forward_training(stream, training);
    expect_success(cudaDeviceSynchronize());
    device.reserve().fetch(before);
    device.plan().backward_data(stream, backward);
    device.plan().weight_gradient(stream, backward);
    for (std::string const& failure : different_bits(device.fetch(), first)) ADD_FAILURE() << "second run: " << failure;
    device.reserve().fetch(after);
    EXPECT_TRUE(before == after) << "backward wrote into the reserve";

    // Captured and replayed.
    stream.capture([&] {
      device.plan().forward_training(stream, training);
      device.plan().backward(stream, backward);
    });
    device.poison();
    expect_success(cudaDeviceSynchronize());
    stream.replay();
    for (std::string const& failure : different_bits(device.fetch(), first)) ADD_FAILURE() << "captured: " << failure;
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  }
};

TYPED_TEST_SUITE_P(network);

TYPED_TEST_P(network, small) {
  for (std::int64_t layers = 1; layers <= 3; ++layers) this->run(layers, 5, 3, 4, 6);
}
TYPED_TEST_P(network, odd) {
  for (std::int64_t layers = 1; layers <= 3; ++layers) this->run(layers, 7, 5, 3, 33);
}
/// Rows and units that fill no tile, and a long sum.
TYPED_TEST_P(network, uneven) {
  this->run(2, 3, 65, 7, 130);
  this->run(2, 3, 65, 7, 136);  // a row of R is a multiple of 16 bytes in every precision
  this->run(1, 2, 1, 5, 1000);
  this->run(2, 3, 17, 8, 333);
}
/// Weights aligned to one element, which is all that rows of an odd length ask for.
TYPED_TEST_P(network, unaligned) { this->run(2, 3, 17, 3, 33, 1); }
TYPED_TEST_P(network, ones) {
  for (std::int64_t layers = 1; layers <= 3; ++layers) this->run(layers, 3, 1, 1, 1);
}
TYPED_TEST_P(network, large) {
  this->run(1, 20, 64, 96, 512);
  this->run(3, 20, 64, 96, 512);
}
TYPED_TEST_P(network, empty) {
  for (std::int64_t layers = 1; layers <= 2; ++layers) {
    this->run(layers, 0, 3, 4, 6);
    this->run(layers, 5, 0, 4, 6);
    this->run(layers, 0, 0, 4, 6);
  }
}
REGISTER_TYPED_TEST_SUITE_P(network, small, odd, uneven, unaligned, ones, large, empty);

template <class Cell, class Schedule = rnnopt::schedules::stepwise<>>
using every_precision =
    testing::Types<network_case<Cell, rnnopt::fp32, Schedule>,  // fp32
                   network_case<Cell, rnnopt::tf32, Schedule>, network_case<Cell, rnnopt::fp16, Schedule>,
                   network_case<Cell, rnnopt::bf16, Schedule>, network_case<Cell, rnnopt::fp64, Schedule>>;

}  // namespace rnnopt_tests

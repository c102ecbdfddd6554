#include <cuda_runtime.h>

#include <memory>

#include "cells/peephole_lstm.hpp"
#include "device_network.cuh"
#include "host_reference.hpp"
#include "rnnopt/cells/gru.hpp"
#include "rnnopt/cells/lstm.hpp"
#include "rnnopt/schedules/stepwise.hpp"
#include "rnnopt/schedules/wavefront.hpp"

/// What a run promises besides its numbers: optional pointers, accumulation, long sequences.

namespace rnnopt_tests {

namespace {

using rnnopt::schedules::stepwise;
using cell = cells::peephole_lstm;
using device = device_network<cell, rnnopt::fp32, stepwise<>>;

rnnopt::extents const usual{2, 4, 6, 3, 5, 1};

void expect_same(results<cell, rnnopt::fp32> const& a, results<cell, rnnopt::fp32> const& b) {
  for (std::string const& failure : different_bits(a, b)) ADD_FAILURE() << failure;
}

/// Null inputs mean zeros: the same bits as zeros that are given.
TEST(contract, null_inputs_are_zeros) {
  random_network<cell, rnnopt::fp32> host(usual);
  SCOPED_TRACE(host.description());
  for (int null = 0; null < 32; ++null) {
    random_network<cell, rnnopt::fp32> zeroed = host;
    auto const zero = [&](int bit, auto& values) {
      if ((null >> bit & 1) != 0) std::fill(values.begin(), values.end(), 0.0F);
    };
    zero(0, zeroed.h);
    zero(1, zeroed.others[0]);
    zero(2, zeroed.dy);
    zero(3, zeroed.dh);
    zero(4, zeroed.dothers[0]);
    device given(zeroed), omitted(host);
    given.plan().forward_training(nullptr, given.forward_arguments(true));
    given.plan().backward(nullptr, given.backward_arguments());
    auto forward = omitted.forward_arguments(true);
    auto backward = omitted.backward_arguments();
    if ((null & 1) != 0) forward.initial.h = nullptr;
    if ((null & 2) != 0) forward.initial.others[0] = nullptr;
    if ((null & 4) != 0) backward.dy = nullptr;
    if ((null & 8) != 0) backward.final_gradient.h = nullptr;
    if ((null & 16) != 0) backward.final_gradient.others[0] = nullptr;
    omitted.plan().forward_training(nullptr, forward);
    omitted.plan().backward(nullptr, backward);
    SCOPED_TRACE("null inputs, as bits: " + std::to_string(null));
    expect_same(omitted.fetch(), given.fetch());
  }
}

/// Null bias means zeros; its gradient can be wanted all the same.
TEST(contract, null_bias_is_zero) {
  random_network<cell, rnnopt::fp32> host(usual);
  for (std::int64_t i = 0; i < usual.lines(); ++i)
    std::fill(host.weights.begin() + host.layout.line(i).bias, host.weights.begin() + host.layout.line(i).units, 0.0F);
  device given(host), omitted(host);
  given.plan().forward_training(nullptr, given.forward_arguments(true));
  given.plan().backward(nullptr, given.backward_arguments());
  auto forward = omitted.forward_arguments(true);
  auto backward = omitted.backward_arguments();
  std::vector<rnnopt::line_weights<float const>> weights(forward.weights, forward.weights + usual.lines());
  for (auto& line : weights) line.bias = nullptr;
  forward.weights = backward.weights = weights.data();
  omitted.plan().forward_training(nullptr, forward);
  omitted.plan().backward(nullptr, backward);
  expect_same(omitted.fetch(), given.fetch());
}

/// Every subset of the results, alone, has the bits of the full run, and what was not asked for is not touched.
TEST(contract, any_subset_of_results) {
  random_network<cell, rnnopt::fp32> const host(usual);
  SCOPED_TRACE(host.description());
  device full(host);
  full.plan().forward_training(nullptr, full.forward_arguments(true));
  full.plan().backward(nullptr, full.backward_arguments());
  auto const expected = full.fetch();
  device part(host);
  for (int wanted = 0; wanted < 1024; ++wanted) {
    auto const wants = [&](int bit) { return (wanted >> bit & 1) != 0; };
    part.poison();
    results<cell, rnnopt::fp32> want(host);
    auto forward = part.forward_arguments(true);
    auto backward = part.backward_arguments();
    std::vector<rnnopt::line_weights<float>> gradients(backward.gradients, backward.gradients + usual.lines());
    auto const choose = [&](int bit, auto& pointer, auto& into, auto const& from) {
      if (wants(bit)) into = from;
      else pointer = nullptr;
    };
    choose(0, forward.y, want.y, expected.y);
    choose(1, forward.final.h, want.h, expected.h);
    choose(2, forward.final.others[0], want.others[0], expected.others[0]);
    choose(3, backward.dx, want.dx, expected.dx);
    choose(4, backward.initial_gradient.h, want.dh, expected.dh);
    choose(5, backward.initial_gradient.others[0], want.dothers[0], expected.dothers[0]);
    for (std::int64_t i = 0; i < usual.lines(); ++i) {
      auto const& offsets = host.layout.line(i);
      auto const choose_part = [&](int bit, float*& pointer, std::int64_t first, std::int64_t last) {
        if (wants(bit))
          std::copy(expected.dweights.begin() + first, expected.dweights.begin() + last, want.dweights.begin() + first);
        else pointer = nullptr;
      };
      auto& g = gradients[std::size_t(i)];
      choose_part(6, g.input, offsets.input, offsets.recurrent);
      choose_part(7, g.recurrent, offsets.recurrent, offsets.bias);
      choose_part(8, g.bias, offsets.bias, offsets.units);
      choose_part(9, g.units, offsets.units, offsets.end);
    }
    backward.gradients = gradients.data();
    part.plan().forward_training(nullptr, forward);
    part.plan().backward(nullptr, backward);
    auto const got = part.fetch();
    // NaN patterns differ between host and device poison: compare what is a number, and that the rest is not.
    got.for_each(want, [&](std::string const& name, auto const& a, auto const& b) {
      for (std::size_t i = 0; i < a.size(); ++i)
        if (std::isnan(b[i]) ? !std::isnan(a[i]) : std::memcmp(&a[i], &b[i], sizeof(a[i])) != 0)
          return ADD_FAILURE() << name << " differs where wanted, as bits, is " << wanted, void();
    });
    if (HasFailure()) return;
  }
}

/// Pre-activations beyond the largest half: saved as that, not as infinity, so that gradients stay finite.
TEST(contract, large_preactivations) {
  random_network<rnnopt::gru, rnnopt::fp16> host(rnnopt::extents{1, 2, 3, 2, 1, 1});
  SCOPED_TRACE(host.description());
  for (auto& weight : host.weights) weight = rnnopt::half(static_cast<float>(weight) > 0 ? 6e4F : -6e4F);
  device_network<rnnopt::gru, rnnopt::fp16, stepwise<>> network(host);
  network.plan().forward_training(nullptr, network.forward_arguments(true));
  network.plan().backward(nullptr, network.backward_arguments());
  auto const got = network.fetch();
  for (float const value : got.dweights) ASSERT_TRUE(std::isfinite(value));
}

TEST(contract, gradients_accumulate) {
  random_network<cell, rnnopt::fp32> const host(usual);
  SCOPED_TRACE(host.description());
  device network(host);
  auto backward = network.backward_arguments();
  network.plan().forward_training(nullptr, network.forward_arguments(true));
  network.plan().backward(nullptr, backward);
  auto const once = network.fetch();
  backward.mode = rnnopt::gradient_mode::accumulate;
  network.plan().backward(nullptr, backward);
  auto const twice = network.fetch();
  std::vector<double> doubled(once.dweights.begin(), once.dweights.end());
  for (double& value : doubled) value *= 2;
  EXPECT_LE(relative_error(twice.dweights, doubled), tolerance<rnnopt::fp32>(1));
  EXPECT_TRUE(same_bits(twice.dx, once.dx)) << "dx accumulates";
}

/// Accumulating over no rows changes nothing; overwriting with them gives zeros.
TEST(contract, empty_gradients) {
  for (rnnopt::extents const& e : {rnnopt::extents{2, 4, 6, 3, 0, 1}, rnnopt::extents{2, 4, 6, 0, 5, 1}}) {
    random_network<cell, rnnopt::fp32> const host(e);
    device network(host);
    auto backward = network.backward_arguments();
    network.plan().forward_training(nullptr, network.forward_arguments(true));
    std::vector<float> const preset(host.weights.size(), 3.0F);
    expect_success(cudaMemcpy(network.dweights().as<float>(), preset.data(), preset.size() * sizeof(float),
                              cudaMemcpyHostToDevice));
    backward.mode = rnnopt::gradient_mode::accumulate;
    network.plan().backward(nullptr, backward);
    EXPECT_EQ(network.fetch().dweights, preset);
    backward.mode = rnnopt::gradient_mode::overwrite;
    network.plan().backward(nullptr, backward);
    EXPECT_EQ(network.fetch().dweights, std::vector<float>(preset.size(), 0.0F));
  }
}

/// NaN in one row of the batch reaches no other row of y, dx or the states.
TEST(contract, rows_do_not_touch_each_other) {
  random_network<cell, rnnopt::fp32> host(usual);
  device clean(host);
  clean.plan().forward_training(nullptr, clean.forward_arguments(true));
  clean.plan().backward_data(nullptr, clean.backward_arguments());
  auto const expected = clean.fetch();
  for (std::int64_t t = 0; t < usual.steps; ++t)
    for (std::int64_t i = 0; i < usual.input; ++i)
      host.x[std::size_t((t * usual.batch + 1) * usual.input + i)] = std::numeric_limits<float>::quiet_NaN();
  device spoiled(host);
  spoiled.plan().forward_training(nullptr, spoiled.forward_arguments(true));
  spoiled.plan().backward_data(nullptr, spoiled.backward_arguments());
  auto const got = spoiled.fetch();
  for (std::int64_t t = 0; t < usual.steps; ++t)
    for (std::int64_t row : {0, 2})
      for (std::int64_t u = 0; u < usual.hidden; ++u) {
        std::size_t const at = std::size_t((t * usual.batch + row) * usual.hidden + u);
        ASSERT_EQ(got.y[at], expected.y[at]);
      }
  for (std::int64_t line = 0; line < usual.lines(); ++line)
    for (std::int64_t row : {0, 2})
      for (std::int64_t u = 0; u < usual.hidden; ++u) {
        std::size_t const at = std::size_t((line * usual.batch + row) * usual.hidden + u);
        ASSERT_EQ(got.h[at], expected.h[at]);
        ASSERT_EQ(got.dh[at], expected.dh[at]);
        ASSERT_EQ(got.dothers[0][at], expected.dothers[0][at]);
      }
  for (std::int64_t t = 0; t < usual.steps; ++t)
    for (std::int64_t row : {0, 2})
      for (std::int64_t i = 0; i < usual.input; ++i) {
        std::size_t const at = std::size_t((t * usual.batch + row) * usual.input + i);
        ASSERT_EQ(got.dx[at], expected.dx[at]);
      }
  EXPECT_TRUE(std::isnan(got.y[std::size_t(usual.hidden)])) << "the spoiled row is not NaN";
}

TEST(contract, errors_of_cuda_keep_their_code) {
  rnnopt::cuda_error const cuda(cudaErrorMemoryAllocation, "somewhere");
  EXPECT_EQ(cuda.code(), cudaErrorMemoryAllocation);
  EXPECT_EQ(std::string(cuda.what()), "rnnopt: somewhere: cudaErrorMemoryAllocation, out of memory");
  rnnopt::cublas_error const cublas(CUBLAS_STATUS_NOT_SUPPORTED, "somewhere");
  EXPECT_EQ(cublas.code(), CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(std::string(cublas.what()).find("rnnopt: somewhere: CUBLAS_STATUS_NOT_SUPPORTED"), 0U);
}

/// More steps than 16 bits count, where grid dimensions and libraries end.
TEST(contract, long_sequence) {
  random_network<rnnopt::lstm, rnnopt::fp64> const host(rnnopt::extents{1, 4, 8, 2, 66000, 1});
  device_network<rnnopt::lstm, rnnopt::fp64, stepwise<>> network(host);
  network.plan().forward_training(nullptr, network.forward_arguments(true));
  network.plan().backward(nullptr, network.backward_arguments());
  for (std::string const& failure :
       beyond(tolerance<rnnopt::fp64>(66000), network.fetch(), host_results<stepwise<>>(host)))
    ADD_FAILURE() << failure;
}

/// A batch beyond what a grid's y dimension counts.
TEST(contract, large_batch) {
  random_network<rnnopt::lstm, rnnopt::fp64> const host(rnnopt::extents{1, 3, 5, 70000, 2, 1});
  device_network<rnnopt::lstm, rnnopt::fp64, stepwise<>> network(host);
  network.plan().forward_training(nullptr, network.forward_arguments(true));
  network.plan().backward(nullptr, network.backward_arguments());
  for (std::string const& failure : beyond(tolerance<rnnopt::fp64>(2), network.fetch(), host_results<stepwise<>>(host)))
    ADD_FAILURE() << failure;
}

/// What is measured is right too: products and fused steps, timed alone and together.
template <class Schedule>
void expect_measured_plans_to_be_right() {
  random_network<rnnopt::lstm, rnnopt::fp64> const host(rnnopt::extents{2, 40, 64, 16, 12, 1});
  auto const expected = host_results<stepwise<>>(host);
  for (auto const choice : {rnnopt::product_choice::measured, rnnopt::product_choice::measured_together}) {
    rnnopt::plan_options options;
    options.products = choice;
    device_network<rnnopt::lstm, rnnopt::fp64, Schedule> network(host, options);
    network.plan().forward_training(nullptr, network.forward_arguments(true));
    network.plan().backward(nullptr, network.backward_arguments());
    for (std::string const& failure : beyond(tolerance<rnnopt::fp64>(12), network.fetch(), expected))
      ADD_FAILURE() << failure;
  }
}
TEST(contract, measured_plans) {
  expect_measured_plans_to_be_right<stepwise<>>();
  expect_measured_plans_to_be_right<rnnopt::schedules::wavefront<rnnopt::schedules::fused_steps>>();
}

}  // namespace
}  // namespace rnnopt_tests

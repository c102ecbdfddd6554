#include "rnnopt/best_of.cuh"

#include <cstddef>
#include <cstdint>
#include <string>

#include "device_network.cuh"
#include "rnnopt/cells/lstm.hpp"
#include "rnnopt/schedules/cluster.hpp"
#include "rnnopt/schedules/naive.hpp"
#include "rnnopt/schedules/stepwise.hpp"
#include "rnnopt/schedules/wavefront.hpp"
#include "sweep_pieces.hpp"

/// One of several schedules: which is chosen, what is said about the others, and that it runs as if used directly.

namespace rnnopt_tests {
namespace {

using rnnopt::fp16;
using rnnopt::lstm;
using rnnopt::schedules::best_of;
using rnnopt::schedules::cluster;
using fused = rnnopt::schedules::wavefront<rnnopt::schedules::fused_steps>;
using of_the_grid = pieces<3, rnnopt::team::grid>;
using usual = best_of<of_the_grid, cluster, fused>;

std::string const fused_name = "rnnopt::schedules::wavefront<rnnopt::schedules::fused_steps>";

rnnopt::extents extents_of(std::int64_t hidden, std::int64_t steps = 5) {
  rnnopt::extents e;
  e.layers = 2;
  e.input = 24;
  e.hidden = hidden;
  e.batch = 3;
  e.steps = steps;
  return e;
}

template <class Cell, class Precision, class Schedule>
results<Cell, Precision> trained(device_network<Cell, Precision, Schedule>& device, cudaStream_t stream) {
  device.poison();
  expect_success(cudaDeviceSynchronize());
  device.plan().forward_training(stream, device.forward_arguments(true));
  device.plan().backward(stream, device.backward_arguments());
  return device.fetch();
}

/// The one of `Alternatives` that has to be chosen, used directly, gives the same bits and takes the same memory.
template <class Chosen, class Alternatives, class Precision>
void expect_runs_as(rnnopt::extents const& e) {
  random_network<lstm, Precision> const host(e);
  SCOPED_TRACE(host.description());
  test_stream stream;
  device_network<lstm, Precision, Chosen> direct(host);
  device_network<lstm, Precision, Alternatives> device(host);
  for (rnnopt::pass const p : {rnnopt::pass::inference, rnnopt::pass::training, rnnopt::pass::backward})
    EXPECT_EQ(device.plan().workspace_bytes(p), direct.plan().workspace_bytes(p));
  EXPECT_EQ(device.plan().reserve_bytes(), direct.plan().reserve_bytes());
  EXPECT_EQ(device.plan().packed_bytes(), direct.plan().packed_bytes());
  EXPECT_EQ(device.plan().runs_fused_steps(), direct.plan().runs_fused_steps());
  EXPECT_EQ(device.plan().network_extents().hidden, e.hidden);

  auto const expected = trained(direct, stream);
  auto const expect_same = [&](char const* run) {
    for (std::string const& failure : different_bits(device.fetch(), expected)) ADD_FAILURE() << run << ": " << failure;
    EXPECT_EQ(device.first_damaged(), -1) << run << " wrote beyond a buffer";
  };
  trained(device, stream);
  expect_same("a run");

  device.poison();
  expect_success(cudaDeviceSynchronize());
  device.plan().forward_training(stream, device.forward_arguments(true));
  device.plan().backward_data(stream, device.backward_arguments());
  device.plan().weight_gradient(stream, device.backward_arguments());
  expect_same("passes apart");

  stream.capture([&] {
    device.plan().forward_training(stream, device.forward_arguments(true));
    device.plan().backward(stream, device.backward_arguments());
  });
  device.poison();
  expect_success(cudaDeviceSynchronize());
  stream.replay();
  expect_same("captured");

  device.poison();
  expect_success(cudaDeviceSynchronize());
  device.plan().forward(stream, device.forward_arguments(false));
  auto const inferred = device.fetch();
  EXPECT_TRUE(same_bits(inferred.y, expected.y)) << "inference and training differ in y";
}

/// An LSTM of hidden 48 fits a cluster, one of 1024 does not.
TEST(best_of, runs_as_the_schedule_that_was_chosen) {
  expect_runs_as<cluster, usual, fp16>(extents_of(48));
  expect_runs_as<fused, usual, fp16>(extents_of(1024));
}
TEST(best_of, packs_for_the_schedule_that_was_chosen) {
  using transposed = rnnopt::schedules::stepwise<rnnopt::schedules::transposed_weights>;
  expect_runs_as<transposed, best_of<cluster, transposed>, rnnopt::fp32>(extents_of(48));
  expect_runs_as<cluster, best_of<cluster, transposed>, fp16>(extents_of(48));
}

TEST(best_of, says_what_was_chosen_and_why) {
  rnnopt::rnn<lstm, fp16, usual> const small(extents_of(48)), large(extents_of(1024));
  EXPECT_EQ(small.chosen(), 1U);
  ASSERT_EQ(small.report().size(), 3U);
  EXPECT_EQ(small.report()[0].schedule.rfind("rnnopt_tests::pieces<", 0), 0U) << small.report()[0].schedule;
  EXPECT_FALSE(small.report()[0].fits);
  EXPECT_FALSE(small.report()[0].chosen);
  EXPECT_EQ(small.report()[0].why, (rnnopt::rnn<lstm, fp16, of_the_grid>::misfit(extents_of(48))));
  EXPECT_EQ(small.report()[1].schedule, "rnnopt::schedules::cluster");
  EXPECT_TRUE(small.report()[1].fits);
  EXPECT_TRUE(small.report()[1].chosen);
  EXPECT_EQ(small.report()[1].why, "the first that fits");
  EXPECT_EQ(small.report()[2].schedule, fused_name);
  EXPECT_TRUE(small.report()[2].fits);
  EXPECT_FALSE(small.report()[2].chosen);
  EXPECT_EQ(small.report()[2].why, "comes after one that fits");

  EXPECT_EQ(large.chosen(), 2U);
  EXPECT_FALSE(large.report()[1].fits);
  EXPECT_FALSE(large.report()[1].chosen);
  EXPECT_EQ(large.report()[1].why, (rnnopt::rnn<lstm, fp16, cluster>::misfit(extents_of(1024))));
  EXPECT_NE(large.report()[1].why, "");
  EXPECT_TRUE(large.report()[2].chosen);
  EXPECT_EQ(large.report()[2].why, "the first that fits");
}

TEST(best_of, misfit_only_where_none_fits) {
  using only_sweeps = best_of<of_the_grid, cluster>;
  EXPECT_EQ((rnnopt::rnn<lstm, fp16, usual>::misfit(extents_of(1024))), "");
  EXPECT_EQ((rnnopt::rnn<lstm, fp16, only_sweeps>::misfit(extents_of(48))), "");
  std::string const misfit = rnnopt::rnn<lstm, fp16, only_sweeps>::misfit(extents_of(1024));
  std::string const of_grid = rnnopt::rnn<lstm, fp16, of_the_grid>::misfit(extents_of(1024));
  std::string const of_cluster = rnnopt::rnn<lstm, fp16, cluster>::misfit(extents_of(1024));
  EXPECT_EQ(misfit,
            rnnopt::detail::name_of<of_the_grid>() + ": " + of_grid + "; rnnopt::schedules::cluster: " + of_cluster);
  try {
    rnnopt::rnn<lstm, fp16, only_sweeps> const plan(extents_of(1024));
    ADD_FAILURE() << "planned although " << misfit;
  } catch (rnnopt::logic_error const& error) {
    EXPECT_EQ(error.code(), rnnopt::errc::does_not_fit);
    EXPECT_EQ(std::string(error.what()),
              "rnnopt: rnn: no schedule of best_of fits; " + misfit +
                  " (schedules without sweeps need no room on the chip and run in every precision)");
  }
}

/// Extents that no schedule takes are no misfit.
TEST(best_of, refuses_what_every_schedule_refuses) {
  rnnopt::extents both_ways = extents_of(48);
  both_ways.directions = 2;
  try {
    rnnopt::rnn<lstm, fp16, usual> const plan(both_ways);
    ADD_FAILURE() << "planned both directions";
  } catch (rnnopt::logic_error const& error) {
    EXPECT_EQ(error.code(), rnnopt::errc::not_supported);
  }
}

/// A cluster takes a small part of the time of kernels for each operation of each step.
TEST(best_of, takes_the_fastest_where_it_may_measure) {
  rnnopt::plan_options options;
  options.products = rnnopt::product_choice::measured;
  using alternatives = best_of<rnnopt::schedules::naive, of_the_grid, cluster>;
  random_network<lstm, fp16> const host(extents_of(256, 50));
  SCOPED_TRACE(host.description());
  device_network<lstm, fp16, alternatives> device(host, options);
  auto const& report = device.plan().report();
  EXPECT_EQ(device.plan().chosen(), 2U);
  EXPECT_TRUE(report[2].chosen);
  EXPECT_FALSE(report[0].chosen);
  EXPECT_TRUE(report[0].fits);
  for (std::size_t const timed : {std::size_t(0), std::size_t(2)})
    EXPECT_EQ(report[timed].why.rfind("forward_training and backward take ", 0), 0U) << report[timed].why;
  EXPECT_EQ(report[1].why, (rnnopt::rnn<lstm, fp16, of_the_grid>::misfit(host.e)));

  // What was timed runs right; its products, chosen by measuring, may round differently.
  device_network<lstm, fp16, cluster> direct(host, options);
  test_stream stream;
  auto const got = trained(device, stream), expected = trained(direct, stream);
  EXPECT_LT(relative_error(got.y, expected.y), tolerance<fp16>(50));
  EXPECT_LT(relative_error(got.dx, expected.dx), tolerance<fp16>(50));
}
TEST(best_of, has_nothing_to_measure_without_steps) {
  rnnopt::plan_options options;
  options.products = rnnopt::product_choice::measured;
  rnnopt::rnn<lstm, fp16, best_of<fused, cluster>> const plan(extents_of(48, 0), options);
  EXPECT_EQ(plan.chosen(), 0U);
  EXPECT_EQ(plan.report()[0].why, "the first that fits");
}

}  // namespace
}  // namespace rnnopt_tests

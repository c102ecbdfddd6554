// Schedules without a GPU: proven on the recorded list, spoiled, and run in random legal orders.

#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "all_cells.hpp"
#include "host_reference.hpp"
#include "recorded_schedule.hpp"
#include "rnnopt/schedules/cluster.hpp"
#include "rnnopt/schedules/naive.hpp"
#include "rnnopt/schedules/stepwise.hpp"
#include "rnnopt/schedules/wavefront.hpp"
#include "sweep_pieces.hpp"

namespace {

using namespace rnnopt_tests;
using rnnopt::schedules::cluster;
using rnnopt::schedules::elementwise;
using rnnopt::schedules::fused_steps;
using rnnopt::schedules::gate_products;
using rnnopt::schedules::input_steps;
using rnnopt::schedules::naive;
using rnnopt::schedules::overlapped;
using rnnopt::schedules::prioritised;
using rnnopt::schedules::stepwise;
using rnnopt::schedules::transposed_weights;
using rnnopt::schedules::wavefront;

template <class Schedule>
struct schedule : testing::Test {};
using every_schedule = testing::Types<
    // The ladder of Appleyard et al. 2016, table 1, and what lies between its rungs.
    naive, stepwise<elementwise, input_steps<1>>, stepwise<elementwise, input_steps<1>, overlapped>,
    stepwise<input_steps<1>, overlapped>, stepwise<input_steps<1>, overlapped, transposed_weights>,
    stepwise<input_steps<2>, overlapped, transposed_weights>,
    wavefront<input_steps<2>, overlapped, transposed_weights, prioritised>,
    // Other compositions.
    stepwise<>, stepwise<gate_products>, stepwise<overlapped, prioritised>, wavefront<>, wavefront<input_steps<1>>,
    wavefront<input_steps<3>>, wavefront<gate_products, elementwise, overlapped, input_steps<3>>, stepwise<fused_steps>,
    stepwise<fused_steps, overlapped, input_steps<2>>, wavefront<fused_steps>,
    wavefront<fused_steps, overlapped, prioritised>, cluster,
    // Schedules of somebody else.
    lanes<1>, lanes<2>, lanes<100>, pieces<1>, pieces<2>, pieces<100>>;
TYPED_TEST_SUITE(schedule, every_schedule);

std::vector<network> all_networks() {
  std::vector<network> result;
  for (std::int64_t layers = 1; layers <= 5; ++layers)
    for (std::int64_t directions = 1; directions <= 2; ++directions)
      for (std::int64_t steps : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 17}) {
        result.push_back({layers, directions, steps, 1, 1});
        result.push_back({layers, directions, steps, 4, 4});
        result.push_back({layers, directions, steps, 3, 2});
        result.push_back({layers, directions, steps, 0, 1});
        result.push_back({layers, directions, steps, 1, 0});
      }
  return result;
}

TYPED_TEST(schedule, is_proven_correct) {
  for (network const& n : all_networks()) {
    auto const violations = rnnopt::check_schedule<TypeParam>(n);
    EXPECT_EQ(violations.size(), 0U) << describe(n) << ", first: " << (violations.empty() ? "" : violations.front());
  }
}

network const spoiled_networks[] = {{1, 1, 3, 1, 1}, {3, 1, 5, 2, 3}, {2, 2, 4, 1, 2}, {3, 2, 3, 2, 1}};

/// function(what, list, check) for the forward list and each of the backward lists; check(list) gives the violations.
template <class Schedule, class Function>
void for_each_pass(network const& n, Function const& function) {
  std::int64_t const concurrent = Schedule::concurrent_layers(n);
  function("forward", recorded_forward<Schedule>(n),
           [&](operations const& list) { return rnnopt::check_forward(n, concurrent, list); });
  for (gradient_request const wanted : {gradient_request{true, true}, {true, false}, {false, true}})
    function(wanted.data ? "backward" : "weight gradients", recorded_backward<Schedule>(n, wanted),
             [&](operations const& list) { return rnnopt::check_backward(n, wanted, list); });
}

// The proof has to notice whatever is missing or done twice, waits included.
TYPED_TEST(schedule, every_operation_is_necessary) {
  for (network const& n : spoiled_networks)
    for_each_pass<TypeParam>(n, [&](char const* pass, operations const& list, auto const& check) {
      SCOPED_TRACE(describe(n) + ", " + pass);
      for (std::size_t i = 0; i < list.size(); ++i) {
        EXPECT_FALSE(check(without(list, i)).empty()) << "without " << to_string(list[i]);
        if (list[i].kind == operation_kind::wait) continue;
        EXPECT_FALSE(check(with_twice(list, i)).empty()) << "twice " << to_string(list[i]);
      }
    });
}

// A signal that is taken out with the waits for it: what it held back may now run too early.
TYPED_TEST(schedule, every_signal_is_necessary) {
  for (network const& n : spoiled_networks)
    for_each_pass<TypeParam>(n, [&](char const* pass, operations const& list, auto const& check) {
      SCOPED_TRACE(describe(n) + ", " + pass);
      std::set<int> used;
      std::vector<int> signals;
      for (operation const& op : list) {
        used.insert(op.lane);
        if (op.kind == operation_kind::signal) signals.push_back(op.event);
      }
      // Weight gradients alone need nothing of each other.
      ASSERT_TRUE(used.size() == 1 || !signals.empty() || std::string(pass) == "weight gradients");
      for (int const event : signals) {
        operations spoiled;
        for (operation const& op : list)
          if ((op.kind != operation_kind::signal && op.kind != operation_kind::wait) || op.event != event)
            spoiled.push_back(op);
        ASSERT_LE(spoiled.size() + 2, list.size()) << "nobody waits for signal " << event;
        EXPECT_FALSE(check(spoiled).empty()) << "without signal " << event;
      }
    });
}

template <class Schedule>
inline constexpr bool adds_gate_by_gate = false;
template <template <class...> class Schedule, class... Options>
inline constexpr bool adds_gate_by_gate<Schedule<Options...>> = (std::is_same_v<Options, gate_products> || ...);
template <>
inline constexpr bool adds_gate_by_gate<naive> = true;

template <class Cell, class Schedule>
void any_legal_order(rnnopt::extents const& e) {
  random_network<Cell, rnnopt::fp32> numbers(e);
  numbers.draw_lengths();
  SCOPED_TRACE(numbers.description());
  host_run<Cell, rnnopt::fp32> plain(numbers);
  plain.run();
  network const n{e.layers, e.directions, e.steps, Cell::gates::input_count, Cell::gates::recurrent_count};
  operations const forward = recorded_forward<Schedule>(n), backward = recorded_backward<Schedule>(n);
  given_order::layers = Schedule::concurrent_layers(n);
  given_order::forward_list = forward, given_order::backward_list = backward;
  host_run<Cell, rnnopt::fp32, given_order> sequential(numbers);
  sequential.run();
  // An option that changes only the order, or what is one kernel, changes no bit.
  EXPECT_TRUE(same_bits(sequential.out.y, plain.out.y));
  EXPECT_TRUE(same_bits(sequential.out.h, plain.out.h));
  auto const differences = adds_gate_by_gate<Schedule>
                               ? beyond(tolerance<rnnopt::fp32>(e.steps), sequential.out, plain.out)
                               : different_bits(sequential.out, plain.out);
  for (std::string const& failure : differences) ADD_FAILURE() << "against stepwise<>: " << failure;
  std::mt19937_64 generator(numbers.seed);
  for (int repeat = 0; repeat < 10; ++repeat) {
    given_order::forward_list = shuffled(forward, generator);
    given_order::backward_list = shuffled(backward, generator);
    host_run<Cell, rnnopt::fp32, given_order> run(numbers);
    run.run();
    // Pieces of input gradients sum in the same order as the whole.
    for (std::string const& failure : different_bits(run.out, sequential.out)) ADD_FAILURE() << failure;
    EXPECT_TRUE(run.guards_are_intact());
    run.infer();
    EXPECT_TRUE(same_bits(run.out.y, sequential.out.y));
  }
}
TYPED_TEST(schedule, any_legal_order_gives_the_same_bits) {
  any_legal_order<rnnopt::lstm, TypeParam>({3, 4, 6, 3, 5, 1});
  any_legal_order<rnnopt::lstm, TypeParam>({3, 4, 6, 3, 5, 2});
  any_legal_order<rnnopt::gru, TypeParam>({3, 4, 6, 3, 5, 1});
  any_legal_order<rnnopt::gru, TypeParam>({2, 3, 5, 2, 4, 2});
  any_legal_order<cells::peephole_lstm, TypeParam>({2, 3, 5, 2, 4, 2});
  any_legal_order<cells::indrnn, TypeParam>({2, 3, 5, 2, 4, 2});  // no R
}

TEST(schedule, more_input_steps_than_there_are) {
  using all = rnnopt::schedules::input_steps<std::numeric_limits<std::int64_t>::max()>;
  for (std::int64_t const steps : {0, 1, 5}) {
    EXPECT_TRUE(rnnopt::check_schedule<rnnopt::schedules::stepwise<all>>({2, 2, steps, 1, 1}).empty());
    EXPECT_TRUE(rnnopt::check_schedule<rnnopt::schedules::wavefront<all>>({2, 1, steps, 1, 1}).empty());
  }
}

TEST(schedule, recurrence_goes_before_the_rest_if_asked) {
  network const n{2, 2, 6, 1, 1};
  auto const check = [&](auto s, std::set<int> const& first) {
    using type = decltype(s);
    for (operation const& op : recorded_forward<type>(n)) {
      bool const recurrence = op.kind == operation_kind::pointwise || op.kind == operation_kind::recurrent_product;
      EXPECT_TRUE(first.count(op.lane) == 1 || !recurrence) << to_string(op);
      EXPECT_EQ(rnnopt::detail::priority_of<type>(n, op.lane), first.count(op.lane) == 1 ? 1 : 0) << to_string(op);
    }
  };
  check(stepwise<overlapped, prioritised>(), {1});
  check(wavefront<prioritised, overlapped>(), {4, 5, 6, 7});
  EXPECT_EQ(rnnopt::detail::priority_of<stepwise<overlapped>>(n, 1), 0);
  EXPECT_EQ(rnnopt::detail::priority_of<wavefront<overlapped>>(n, 4), 0);
  EXPECT_EQ(rnnopt::detail::priority_of<lanes<1>>(n, 4), 0);
}

// The lowest layer has none below it; and without sweeps nothing is to run beside.
TEST(schedule, weight_gradients_run_beside_the_sweep_of_the_layer_below) {
  network const n{3, 2, 5, 1, 1};
  for (operation const& op : recorded_backward<cluster>(n)) {
    bool const upper_weights = op.kind == operation_kind::weight_gradient && op.line.layer > 0;
    EXPECT_EQ(op.lane, upper_weights || op.kind == operation_kind::wait ? 1 : 0) << to_string(op);
  }
  for (operation const& op : recorded_backward<cluster>(n, {false, true})) EXPECT_EQ(op.lane, 0) << to_string(op);
}

TEST(schedule, weights_are_transposed_if_asked) {
  EXPECT_FALSE(rnnopt::detail::transposed_weights_of<stepwise<>>());
  EXPECT_FALSE(rnnopt::detail::transposed_weights_of<naive>());
  EXPECT_FALSE(rnnopt::detail::transposed_weights_of<lanes<1>>());
  EXPECT_TRUE(rnnopt::detail::transposed_weights_of<stepwise<transposed_weights>>());
  EXPECT_TRUE((rnnopt::detail::transposed_weights_of<wavefront<input_steps<2>, transposed_weights>>()));
}

TEST(schedule, what_needs_kernels_of_its_own_is_announced) {
  using namespace rnnopt::detail;
  static_assert(fused_steps_of<stepwise<fused_steps>>() && !elementwise_of<stepwise<fused_steps>>());
  static_assert(fused_steps_of<wavefront<overlapped, fused_steps>>());
  static_assert(elementwise_of<naive>() && !fused_steps_of<naive>());
  static_assert(elementwise_of<wavefront<elementwise>>());
  static_assert(!fused_steps_of<wavefront<>>() && !elementwise_of<wavefront<>>());
  static_assert(!fused_steps_of<lanes<1>>() && !elementwise_of<lanes<1>>());
  using rnnopt::team;
  static_assert(sweeps_of<cluster>() == team::cluster && sweeps_of<pieces<2, team::grid>>() == team::grid);
  static_assert(!fused_steps_of<cluster>() && !elementwise_of<cluster>());
  static_assert(sweeps_of<stepwise<fused_steps>>() == team::none && sweeps_of<lanes<1>>() == team::none);
}

// What is announced is emitted, and nothing else is.
TYPED_TEST(schedule, announces_what_it_emits) {
  bool steps = false, kernels = false, sweeps = false;
  network const n{2, 1, 3, 1, 1};
  for (operations const& list : {recorded_forward<TypeParam>(n), recorded_backward<TypeParam>(n)})
    for (operation const& op : list) {
      steps |= op.kind == operation_kind::step || op.kind == operation_kind::step_gradient;
      kernels |= op.kind == operation_kind::elementwise || op.kind == operation_kind::elementwise_gradient;
      sweeps |= op.kind == operation_kind::sweep || op.kind == operation_kind::sweep_gradient;
    }
  EXPECT_EQ(steps, rnnopt::detail::fused_steps_of<TypeParam>());
  EXPECT_EQ(kernels, rnnopt::detail::elementwise_of<TypeParam>());
  EXPECT_EQ(sweeps, rnnopt::detail::sweeps_of<TypeParam>() != rnnopt::team::none);
}

}  // namespace

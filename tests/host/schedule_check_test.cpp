// The proof of schedules put to the test: what it says about wrong lists, and that it is neither blind nor too strict.

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host_reference.hpp"
#include "recorded_schedule.hpp"
#include "rnnopt/cells/gru.hpp"
#include "rnnopt/cells/lstm.hpp"
#include "rnnopt/schedules/cluster.hpp"
#include "rnnopt/schedules/naive.hpp"
#include "rnnopt/schedules/stepwise.hpp"
#include "rnnopt/schedules/wavefront.hpp"
#include "sweep_pieces.hpp"

namespace {

using namespace rnnopt_tests;
using rnnopt::schedules::cluster;
using rnnopt::schedules::fused_steps;
using rnnopt::schedules::naive;
using rnnopt::schedules::stepwise;
using texts = std::vector<std::string>;

TEST(schedule_check, says_what_is_wrong) {
  network const n{2, 1, 2};
  using kind = operation_kind;
  operations const good = recorded_forward<stepwise<>>(n);
  auto const check = [&](operations const& list) { return rnnopt::check_forward(n, 1, list); };
  ASSERT_EQ(check(good), texts());
  EXPECT_EQ(check(without(good, 1)), texts{"nothing leaves the recurrent product of layer 0, direction 0, step 0"});
  EXPECT_EQ(
      check(with_twice(good, 2)),
      texts{"pointwise(layer 0, direction 0, step 0) on lane 0 repeats the states of layer 0, direction 0, step 0"});
  operations list = good;
  list.push_back({kind::weight_gradient, 0, {0, 0}, 0, 0, 0, 0});
  EXPECT_EQ(check(list), texts{"weight_gradient(layer 0, direction 0) on lane 0 is not part of this pass"});
  list.back() = {kind::pointwise, 0, {2, 0}, 0, 1, 0, 0};
  EXPECT_EQ(check(list), texts{"pointwise(layer 2, direction 0, step 0) on lane 0 is outside the network"});
  list.back() = {kind::input_product, 0, {1, 0}, 1, 2, 0, 0};
  EXPECT_EQ(check(list), texts{"input_product(layer 1, direction 0, steps 1 to 2) on lane 0 is outside the network"});
  list.back() = {kind::wait, 0, {}, 0, 0, 3, 0};
  EXPECT_EQ(check(list), texts{"wait(event 3) on lane 0: the event has not been signalled before"});
  list = good;
  list.push_back({kind::signal, 0, {}, 0, 0, 3, 0});
  list.push_back({kind::signal, 0, {}, 0, 0, 3, 0});
  EXPECT_EQ(check(list), texts{"signal(event 3) on lane 0: the event has been signalled before"});
  // The upper layer on a lane of its own, without events.
  list = good;
  for (operation& op : list) op.lane = static_cast<int>(op.line.layer);
  EXPECT_EQ(
      check(list),
      (texts{"input_product(layer 1, direction 0, steps 0 to 1) on lane 1 reads its output but is not ordered after "
             "pointwise(layer 0, direction 0, step 0) on lane 0",
             "input_product(layer 1, direction 0, steps 0 to 1) on lane 1 reads its output but is not ordered after "
             "pointwise(layer 0, direction 0, step 1) on lane 0",
             "input_product(layer 1, direction 0, steps 0 to 1) on lane 1 overwrites the product it reads but is not "
             "ordered after pointwise(layer 0, direction 0, step 0) on lane 0",
             "input_product(layer 1, direction 0, steps 0 to 1) on lane 1 overwrites the product it reads but is not "
             "ordered after pointwise(layer 0, direction 0, step 1) on lane 0"}));
  // With two buffers only the order of the values is missing.
  EXPECT_EQ(rnnopt::check_forward(n, 2, list).size(), 2U);
}

// Gate by gate: each block of a product exactly once, and sums in the order of the gates.
TEST(schedule_check, says_what_is_wrong_with_a_gate) {
  network const n{1, 1, 1, 2, 2};
  operations const good = recorded_forward<naive>(n);
  auto const check = [&](operations const& list) { return rnnopt::check_forward(n, 1, list); };
  ASSERT_EQ(check(good), texts());
  EXPECT_EQ(check(without(good, 1)), texts{"nothing leaves the input product of layer 0, direction 0, step 0, gate 1"});
  operations list = good;
  list[1].gate = 2;
  EXPECT_EQ(check(list).front(),
            "gate_input_product(layer 0, direction 0, steps 0 to 0, gate 2) on lane 0 is outside the network");
  list = good;
  list[1] = {operation_kind::input_product, 0, {0, 0}, 0, 1, 0, 0};
  EXPECT_EQ(check(list), texts{"input_product(layer 0, direction 0, steps 0 to 0) on lane 0 repeats the input product "
                               "of layer 0, direction 0, step 0, gate 0"});
  operations const backward = recorded_backward<naive>(n);
  ASSERT_EQ(rnnopt::check_backward(n, {}, backward), texts());
  list = backward;
  std::swap(list[1], list[2]);
  EXPECT_EQ(
      rnnopt::check_backward(n, {}, list),
      texts{"gate_recurrent_gradient(layer 0, direction 0, step 0, gate 1) on lane 0 adds to its result but is not "
            "ordered after gate_recurrent_gradient(layer 0, direction 0, step 0, gate 0) on lane 0"});
}

// Fused steps: what a step takes over from the one after it must not be done, or left, by another operation as well.
TEST(schedule_check, says_what_is_wrong_with_a_fused_step) {
  network const n{1, 1, 2, 1, 1};
  operations const good = recorded_backward<stepwise<fused_steps>>(n);
  auto const check = [&](operations const& list) { return rnnopt::check_backward(n, {}, list); };
  ASSERT_EQ(check(good), texts());
  EXPECT_EQ(check(without(good, 2)), texts{"nothing leaves the gradient through R of layer 0, direction 0, step 0"});
  operations list = good;
  list.insert(list.begin() + 1, {operation_kind::recurrent_gradient, 0, {0, 0}, 1, 1, 0, 0});
  EXPECT_EQ(check(list),
            texts{"step_gradient(layer 0, direction 0, step 0) on lane 0 repeats the gradient through R of "
                  "layer 0, direction 0, step 1"});
  list = good;
  list[1].kind = operation_kind::pointwise_gradient;
  EXPECT_EQ(check(list), texts{"nothing leaves the gradient through R of layer 0, direction 0, step 1"});
  list = good;
  list[0].lane = 1;
  EXPECT_EQ(check(list).front(),
            "step_gradient(layer 0, direction 0, step 0) on lane 0 reads its gate gradients but is not ordered after "
            "step_gradient(layer 0, direction 0, step 1) on lane 1");
  // Fused forward steps and a product for the same step.
  operations forward = recorded_forward<stepwise<fused_steps>>(n);
  ASSERT_EQ(rnnopt::check_forward(n, 1, forward), texts());
  forward.insert(forward.begin() + 1, {operation_kind::recurrent_product, 0, {0, 0}, 0, 1, 0, 0});
  EXPECT_EQ(rnnopt::check_forward(n, 1, forward),
            texts{"step(layer 0, direction 0, step 0) on lane 0 repeats the recurrent product of layer 0, direction 0, "
                  "step 0"});
}

// Sweeps: what follows from step to step is in order within one, and has to be between two.
TEST(schedule_check, says_what_is_wrong_with_a_sweep) {
  network const n{1, 1, 4, 1, 1};
  operations const good = recorded_forward<pieces<2>>(n);
  auto const check = [&](operations const& list) { return rnnopt::check_forward(n, 1, list); };
  ASSERT_EQ(check(good), texts());
  operations list = good;
  list[0].lane = list[1].lane = 1;
  EXPECT_EQ(check(list), texts{"sweep(layer 0, direction 0, steps 2 to 3) on lane 0 reads its states but is not "
                               "ordered after sweep(layer 0, direction 0, steps 0 to 1) on lane 1"});
  list = good;
  list[0].lane = 1;
  EXPECT_EQ(check(list), texts{"sweep(layer 0, direction 0, steps 0 to 1) on lane 0 reads its product but is not "
                               "ordered after input_product(layer 0, direction 0, steps 0 to 1) on lane 1"});
  list = good;
  list[3].steps = 3;
  EXPECT_EQ(check(list).front(), "sweep(layer 0, direction 0, steps 2 to 4) on lane 0 is outside the network");
  list = good;
  list[3].first_step = 1;
  EXPECT_EQ(check(list).front(),
            "sweep(layer 0, direction 0, steps 1 to 2) on lane 0 repeats the recurrent product of layer 0, direction "
            "0, step 1");
  // No other operation may do again what passes from step to step within a sweep: it would spoil what it leaves.
  operations const backward = recorded_backward<pieces<2>>(n);
  ASSERT_EQ(rnnopt::check_backward(n, {}, backward), texts());
  list = backward;
  list.insert(list.begin() + 3, {operation_kind::recurrent_gradient, 0, {0, 0}, 1, 1, 0, 0});
  EXPECT_EQ(rnnopt::check_backward(n, {}, list),
            texts{"recurrent_gradient(layer 0, direction 0, step 1) on lane 0 repeats the gradient through R of layer "
                  "0, direction 0, step 1"});
  list = backward;
  list[0].lane = 1;
  EXPECT_EQ(rnnopt::check_backward(n, {true, false}, without(list, 4)).front(),
            "sweep_gradient(layer 0, direction 0, steps 0 to 1) on lane 0 reads its gate gradients but is not ordered "
            "after sweep_gradient(layer 0, direction 0, steps 2 to 3) on lane 1");
}

/// Announces nothing of what it emits, and signals an event that no lane can have.
template <class Schedule>
struct unannounced {
  static std::int64_t concurrent_layers(rnnopt::network const&) { return 1; }
  template <class Sink>
  static void forward(rnnopt::network const& n, Sink& sink) {
    sink.signal(0, -7);
    Schedule::forward(n, sink);
  }
  template <class Sink>
  static void backward(rnnopt::network const& n, rnnopt::gradient_request wanted, Sink& sink) {
    Schedule::backward(n, wanted, sink);
  }
};

TEST(schedule_check, says_what_a_plan_would_refuse) {
  network const n{1, 1, 2, 1, 1};
  auto wrong = rnnopt::check_schedule<unannounced<stepwise<fused_steps>>>(n);
  ASSERT_EQ(wrong.size(), 7U);
  EXPECT_EQ(wrong[0], "signal(event -1) on lane 0: the event is negative");
  EXPECT_EQ(wrong[1],
            "step(layer 0, direction 0, step 0) on lane 0 is not announced: the schedule needs static constexpr bool "
            "fused_steps = true");
  wrong = rnnopt::check_schedule<unannounced<naive>>(n);
  ASSERT_EQ(wrong.size(), 7U);
  EXPECT_EQ(wrong.back(),
            "elementwise_gradient(layer 0, direction 0, step 0) on lane 0 is not announced: the schedule needs static "
            "constexpr bool elementwise = true");
  wrong = rnnopt::check_schedule<unannounced<cluster>>(n);
  ASSERT_EQ(wrong.size(), 4U);
  EXPECT_EQ(wrong[1],
            "sweep(layer 0, direction 0, steps 0 to 1) on lane 0 is not announced: the schedule needs static constexpr "
            "rnnopt::team sweeps = rnnopt::team::cluster");
  EXPECT_EQ(wrong.back().rfind("sweep_gradient(layer 0, direction 0, steps 0 to 1) on lane 0 is not announced", 0), 0U);
}

TEST(schedule_check, refuses_networks_that_are_none) {
  for (rnnopt::network const n :
       {rnnopt::network{0, 1, 1, 1, 1}, rnnopt::network{1, 0, 1, 1, 1}, rnnopt::network{1, 3, 1, 1, 1},
        rnnopt::network{1, 1, -1, 1, 1}, rnnopt::network{1, 1, 1, -1, 1}, rnnopt::network{1, 1, 1, 1, -1}}) {
    auto const wrong = rnnopt::check_schedule<rnnopt::schedules::wavefront<>>(n);
    ASSERT_EQ(wrong.size(), 1U);
    EXPECT_EQ(wrong[0].rfind("the network has layers ", 0), 0U) << wrong[0];
    EXPECT_EQ(rnnopt::check_forward(n, 1, {}), wrong);
    EXPECT_EQ(rnnopt::check_backward(n, {}, {}), wrong);
  }
}

TEST(replay, runs_each_lane_in_order_and_reports_a_deadlock) {
  network const n{3, 1, 4};
  auto const list = recorded_forward<lanes<2>>(n);
  std::mt19937_64 generator(fresh_seed());
  std::set<std::vector<int>> orders;
  for (int repeat = 0; repeat < 50; ++repeat) {
    recorder r;
    ASSERT_TRUE(rnnopt::replay(list, r, [&](std::size_t count) { return generator() % count; }));
    EXPECT_TRUE(rnnopt::check_forward(n, n.layers, r.operations).empty());
    std::vector<int> order;
    for (operation const& op : r.operations) order.push_back(op.lane);
    orders.insert(order);
  }
  EXPECT_GT(orders.size(), 10U);
  std::size_t first_signal = 0;
  while (list[first_signal].kind != operation_kind::signal) ++first_signal;
  recorder r;
  EXPECT_FALSE(rnnopt::replay(without(list, first_signal), r, [](std::size_t) { return 0; }));
}

/// Whether all that is wrong is the order of a sum, which need not show in the bits.
bool only_sums(texts const& violations) {
  return std::all_of(violations.begin(), violations.end(), [](std::string const& violation) {
    return violation.find("adds to its result") != std::string::npos;
  });
}

// On one lane the order of the list is the order of the run. So the proof has to fail exactly where two exchanged
// operations change the results; memory begins as NaN, so that whatever is read too early shows.
template <class Cell, class Schedule>
void complains_exactly_where_results_change(rnnopt::extents const& e) {
  random_network<Cell, rnnopt::fp64> const numbers(e);
  SCOPED_TRACE(numbers.description());
  network const n{e.layers, e.directions, e.steps, Cell::gates::input_count, Cell::gates::recurrent_count};
  auto const forward = recorded_forward<Schedule>(n), backward = recorded_backward<Schedule>(n);
  host_run<Cell, rnnopt::fp64, Schedule> right(numbers);
  right.run();
  given_order::layers = 1;
  int wrong = 0, harmless = 0;
  for (auto const* list : {&forward, &backward})
    for (std::size_t i = 0; i < list->size(); ++i)
      for (std::size_t j = i + 1; j < list->size(); ++j) {
        auto exchanged = *list;
        std::swap(exchanged[i], exchanged[j]);
        given_order::forward_list = list == &forward ? exchanged : forward;
        given_order::backward_list = list == &backward ? exchanged : backward;
        texts const violations =
            list == &forward ? rnnopt::check_forward(n, 1, exchanged) : rnnopt::check_backward(n, {}, exchanged);
        host_run<Cell, rnnopt::fp64, given_order> run(numbers);
        run.run();
        bool const changed = !different_bits(run.out, right.out).empty();
        EXPECT_TRUE(violations.empty() != changed || (!violations.empty() && only_sums(violations)))
            << to_string((*list)[i]) << " and " << to_string((*list)[j]);
        ++(violations.empty() ? harmless : wrong);
      }
  EXPECT_GT(wrong, 100);
  EXPECT_GT(harmless, 5);
}
TEST(schedule_check, complains_exactly_where_results_change) {
  complains_exactly_where_results_change<rnnopt::lstm, stepwise<>>({2, 3, 4, 2, 3, 2});
  complains_exactly_where_results_change<rnnopt::gru, stepwise<fused_steps>>({2, 3, 4, 2, 3, 2});
  complains_exactly_where_results_change<rnnopt::lstm, pieces<2>>({2, 3, 4, 2, 5, 2});
  complains_exactly_where_results_change<rnnopt::gru, naive>({2, 3, 4, 2, 2, 1});
  complains_exactly_where_results_change<rnnopt::gru, naive>({1, 3, 4, 2, 2, 2});
}

}  // namespace

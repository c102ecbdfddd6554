// When the operations of a list run, on lists short enough to do by hand, and what the model says that they take.

#include <cstddef>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "rnnopt/cells/lstm.hpp"
#include "rnnopt/recorder.hpp"
#include "schedule_tool/appearance.hpp"
#include "schedule_tool/cost_model.hpp"
#include "schedule_tool/timeline.hpp"

namespace {

using rnnopt::operation;
using rnnopt::operation_kind;
using rnnopt::recorder;

double duration(operation const& op) {
  static std::map<operation_kind, double> const microseconds{{operation_kind::input_product, 2},
                                                             {operation_kind::recurrent_product, 3},
                                                             {operation_kind::pointwise, 1},
                                                             {operation_kind::step, 4},
                                                             {operation_kind::weight_gradient, 1}};
  return microseconds.at(op.kind);
}

/// Lane 0: 2 us, then 3 us, then 1 us that waits for lane 1. Lane 1: 1 us, then 4 us that wait for the first two.
std::vector<operation> two_lanes() {
  recorder list;
  list.input_product(0, {0, 0}, 0, 1);   // 0: from 0 to 2
  list.signal(0, 7);                     // 1
  list.recurrent_product(0, {0, 0}, 0);  // 2: from 2 to 5
  list.pointwise(1, {0, 0}, 0);          // 3: from 0 to 1
  list.wait(1, 7);                       // 4: until 2
  list.step(1, {0, 0}, 0);               // 5: from 2 to 6
  list.signal(1, 7);                     // 6
  list.wait(0, 7);                       // 7: from 5 until 6
  list.weight_gradient(0, {0, 0});       // 8: from 6 to 7
  return list.operations;
}

TEST(timeline, an_operation_starts_when_its_lane_is_free_and_its_waits_are_over) {
  auto const spans = schedule_tool::run(two_lanes(), duration);
  std::vector<double> starts, ends;
  for (auto const& s : spans) starts.push_back(s.start), ends.push_back(s.end);
  EXPECT_EQ(starts, (std::vector<double>{0, 2, 2, 0, 1, 2, 6, 5, 6}));
  EXPECT_EQ(ends, (std::vector<double>{2, 2, 5, 1, 2, 6, 6, 6, 7}));
  EXPECT_EQ(schedule_tool::total_time(spans), 7);
}

TEST(timeline, the_critical_path_crosses_lanes) {
  auto const list = two_lanes();
  EXPECT_EQ(schedule_tool::critical_path(list, schedule_tool::run(list, duration)),
            (std::vector<std::size_t>{0, 5, 8}));
}

TEST(timeline, width_counts_what_runs_at_once) {
  auto const list = two_lanes();
  auto const width = schedule_tool::width_of(list, schedule_tool::run(list, duration));
  EXPECT_DOUBLE_EQ(width.average, 11.0 / 7.0);
  EXPECT_EQ(width.largest, 2);  // at 2 one ends and two start
}

TEST(timeline, a_wait_for_what_is_long_past_costs_nothing) {
  recorder list;
  list.pointwise(0, {0, 0}, 0);
  list.signal(0, 0);
  list.step(1, {0, 0}, 0);
  list.wait(1, 0);
  list.pointwise(1, {0, 0}, 1);
  auto const spans = schedule_tool::run(list.operations, duration);
  EXPECT_EQ(spans.back().start, 4);
  EXPECT_EQ(schedule_tool::critical_path(list.operations, spans), (std::vector<std::size_t>{2, 4}));
}

TEST(timeline, one_lane_is_a_sum) {
  recorder list;
  for (int step = 0; step < 5; ++step) list.recurrent_product(3, {0, 0}, step);
  auto const spans = schedule_tool::run(list.operations, duration);
  EXPECT_EQ(schedule_tool::total_time(spans), 15);
  EXPECT_EQ(schedule_tool::critical_path(list.operations, spans).size(), 5U);
  EXPECT_EQ(schedule_tool::width_of(list.operations, spans).average, 1);
  EXPECT_EQ(schedule_tool::width_of(list.operations, spans).largest, 1);
}

TEST(timeline, nothing_takes_no_time) {
  EXPECT_TRUE(schedule_tool::run({}, duration).empty());
  EXPECT_EQ(schedule_tool::total_time({}), 0);
  EXPECT_TRUE(schedule_tool::critical_path({}, {}).empty());
  EXPECT_EQ(schedule_tool::width_of({}, {}).largest, 0);
}

/// Microseconds of an operation of an LSTM in fp16, with 17 and 30 arithmetic operations a step.
double modelled(rnnopt::extents const& e, operation_kind kind, std::int64_t first_step = 0, std::int64_t steps = 1) {
  schedule_tool::cell_cost const cell{"lstm", rnnopt::detail::shape_of<rnnopt::lstm>(), 17, 30};
  return schedule_tool::cost_model(e, cell, {"fp16", 2, 500e6})({kind, 0, {0, 0}, first_step, steps, 0, 0});
}

rnnopt::extents extents_of(std::int64_t hidden, std::int64_t batch) { return {1, hidden, hidden, batch, 100, 1}; }

TEST(cost_model, has_what_was_measured) {
  rnnopt::extents const e = extents_of(512, 64);
  EXPECT_NEAR(modelled(e, operation_kind::step), 3.1, 0.05);
  EXPECT_NEAR(modelled(e, operation_kind::recurrent_product), 4.7, 0.1);
  EXPECT_EQ(modelled(e, operation_kind::pointwise), 2);
  EXPECT_DOUBLE_EQ(modelled(e, operation_kind::elementwise), 17 * 1.2);
  EXPECT_DOUBLE_EQ(modelled(e, operation_kind::elementwise_gradient), 30 * 1.2);
}

TEST(cost_model, no_product_precedes_the_last_step) {
  rnnopt::extents const e = extents_of(512, 64);
  EXPECT_EQ(modelled(e, operation_kind::step_gradient, 99), modelled(e, operation_kind::pointwise_gradient, 99));
  EXPECT_EQ(modelled(e, operation_kind::step_gradient, 98), modelled(e, operation_kind::step));
}

TEST(cost_model, a_sweep_is_a_kernel_and_its_steps) {
  rnnopt::extents const e = extents_of(512, 64);
  double const one = modelled(e, operation_kind::sweep), ten = modelled(e, operation_kind::sweep, 0, 10);
  EXPECT_DOUBLE_EQ(ten - one, 9 * 1.7);
  EXPECT_LT(one, modelled(e, operation_kind::step));
  EXPECT_EQ(modelled(e, operation_kind::sweep_gradient, 3, 10), ten);
}

TEST(appearance, a_sweep_has_one_of_its_own) {
  char const sweep = schedule_tool::appearance_of(operation_kind::sweep).letter;
  EXPECT_EQ(schedule_tool::appearance_of(operation_kind::sweep_gradient).letter, sweep);
  for (operation_kind const other : {operation_kind::input_product, operation_kind::recurrent_product,
                                     operation_kind::pointwise, operation_kind::step, operation_kind::weight_gradient})
    EXPECT_NE(schedule_tool::appearance_of(other).letter, sweep);
}

TEST(cost_model, large_products_are_arithmetic_and_narrow_ones_are_bytes) {
  // 2 * 8192 * 4 * 4096 * 4096 operations against 500 a nanosecond.
  EXPECT_NEAR(modelled(extents_of(4096, 8192), operation_kind::recurrent_product), 2199 + 4.2, 1);
  // 4 * 4096 * 4096 weights of 2 bytes against 5 bytes a picosecond.
  EXPECT_NEAR(modelled(extents_of(4096, 1), operation_kind::recurrent_product), 26.8 + 4.2, 0.1);
}

TEST(cost_model, products_over_several_steps_and_of_one_gate) {
  rnnopt::extents const e = extents_of(2048, 512);
  double const start = 4.2;
  double const one = modelled(e, operation_kind::input_product) - start;
  EXPECT_NEAR(modelled(e, operation_kind::input_product, 0, 8) - start, 8 * one, 1e-6);
  EXPECT_NEAR(modelled(e, operation_kind::gate_input_product) - start, one / 4, 1e-6);
}

}  // namespace

// Schedules without a GPU: proven on the recorded list, run in random legal orders, and the proof itself put to the
// test.

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "all_cells.hpp"
#include "host_reference.hpp"
#include "rnnopt/recorder.hpp"
#include "rnnopt/schedule_check.hpp"
#include "rnnopt/schedules/stepwise.hpp"
#include "rnnopt/schedules/wavefront.hpp"

namespace {

using namespace rnnopt_tests;
using rnnopt::gradient_request;
using rnnopt::line;
using rnnopt::network;
using rnnopt::operation;
using rnnopt::operation_kind;
using rnnopt::recorder;
using rnnopt::schedules::stepwise;
using rnnopt::schedules::wavefront;
using operations = std::vector<operation>;
using texts = std::vector<std::string>;

/// A schedule with a lane for each line and more for the weight gradients, ordered by as few events as will do: what
/// the single lane of stepwise cannot show. Products over time are cut into pieces of `Piece` steps.
template <std::int64_t Piece>
struct lanes {
  static std::int64_t concurrent_layers(network const& n) { return n.layers; }

  template <class Sink>
  static void forward(network const& n, Sink& sink) {
    if (n.directions == 1) {
      for (std::int64_t first = 0; first < n.steps; first += Piece)
        for (std::int64_t layer = 0; layer < n.layers; ++layer)
          for (std::int64_t step = first; step < std::min(first + Piece, n.steps); ++step)
            forward_step(n, {layer, 0}, step, sink);
    } else {
      for (std::int64_t layer = 0; layer < n.layers; ++layer)
        for (std::int64_t step = 0; step < n.steps; ++step)
          for (std::int64_t d = 0; d < 2; ++d) forward_step(n, {layer, d}, step, sink);
    }
  }

  template <class Sink>
  static void backward(network const& n, gradient_request wanted, Sink& sink) {
    int const weights = event(n, {n.layers, 0}, 0);  // past the events of all lines
    for (std::int64_t layer = n.layers - 1; layer >= 0; --layer)
      for (std::int64_t d = 0; d < n.directions; ++d) {
        line const l{layer, d};
        int const lane = static_cast<int>(layer * n.directions + d);
        if (wanted.data) {
          // dy is complete when the last direction of the layer above has added to it.
          if (layer + 1 < n.layers) sink.wait(lane, event(n, {layer + 1, n.directions - 1}, 0));
          for (std::int64_t step = n.steps - 1; step >= 0; --step) {
            sink.pointwise_gradient(lane, l, step);
            sink.recurrent_gradient(lane, l, step);
          }
          if (wanted.weights) sink.signal(lane, weights + lane);
          if (d > 0) sink.wait(lane, event(n, {layer, d - 1}, 0));
          for (std::int64_t last = n.steps - 1; last >= 0; last -= Piece) {
            std::int64_t const first = std::max<std::int64_t>(last - Piece + 1, 0);
            sink.input_gradient(lane, l, first, last - first + 1);
          }
          if (d + 1 < n.directions || layer > 0) sink.signal(lane, event(n, l, 0));
        }
        if (wanted.weights) {
          int const side = 100 + lane;
          if (wanted.data) sink.wait(side, weights + lane);
          sink.weight_gradient(side, l);
        }
      }
  }

 private:
  static int event(network const& n, line const& l, std::int64_t step) {
    return static_cast<int>((l.layer * n.directions + l.direction) * std::max<std::int64_t>(n.steps, 1) + step);
  }
  template <class Sink>
  static void forward_step(network const& n, line const& l, std::int64_t step, Sink& sink) {
    int const lane = static_cast<int>(l.layer * n.directions + l.direction);
    if (step % Piece == 0) {
      std::int64_t const last = std::min(step + Piece, n.steps) - 1;
      if (n.directions == 1 && l.layer > 0) sink.wait(lane, event(n, {l.layer - 1, 0}, last));
      // Both directions have to be done with all times of the layer below.
      if (n.directions == 2 && l.layer > 0 && step == 0)
        for (std::int64_t d = 0; d < 2; ++d) sink.wait(lane, event(n, {l.layer - 1, d}, n.steps - 1));
      sink.input_product(lane, l, step, last - step + 1);
    }
    sink.recurrent_product(lane, l, step);
    sink.pointwise(lane, l, step);
    bool const piece_ends = step == n.steps - 1 || (n.directions == 1 && (step + 1) % Piece == 0);
    if (l.layer < n.layers - 1 && piece_ends) sink.signal(lane, event(n, l, step));
  }
};

template <class Schedule>
operations recorded_forward(network const& n) {
  recorder r;
  Schedule::forward(n, r);
  return r.operations;
}
template <class Schedule>
operations recorded_backward(network const& n, gradient_request wanted = {}) {
  recorder r;
  Schedule::backward(n, wanted, r);
  return r.operations;
}

template <class Schedule>
struct schedule : testing::Test {};
using every_schedule =
    testing::Types<stepwise, wavefront<1>, wavefront<3>, wavefront<8>, lanes<1>, lanes<2>, lanes<100>>;
TYPED_TEST_SUITE(schedule, every_schedule);

std::vector<network> all_networks() {
  std::vector<network> result;
  for (std::int64_t layers = 1; layers <= 5; ++layers)
    for (std::int64_t directions = 1; directions <= 2; ++directions)
      for (std::int64_t steps : {0, 1, 2, 3, 7, 9}) result.push_back({layers, directions, steps});
  return result;
}
std::string describe(network const& n) {
  return "layers " + std::to_string(n.layers) + ", directions " + std::to_string(n.directions) + ", steps " +
         std::to_string(n.steps);
}

TYPED_TEST(schedule, is_proven_correct) {
  for (network const& n : all_networks()) {
    auto const violations = rnnopt::check_schedule<TypeParam>(n);
    EXPECT_EQ(violations.size(), 0U) << describe(n) << ", first: " << (violations.empty() ? "" : violations.front());
  }
}

operations without(operations list, std::size_t index) {
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(index));
  return list;
}
operations with_twice(operations list, std::size_t index) {
  operation const op = list[index];
  list.insert(list.begin() + static_cast<std::ptrdiff_t>(index), op);
  return list;
}

// The proof has to notice whatever is missing or done twice, signals and waits included.
TYPED_TEST(schedule, every_operation_is_necessary) {
  for (network const& n : {network{1, 1, 3}, network{3, 1, 5}, network{2, 2, 4}, network{3, 2, 3}}) {
    SCOPED_TRACE(describe(n));
    std::int64_t const concurrent = TypeParam::concurrent_layers(n);
    auto const forward = recorded_forward<TypeParam>(n);
    for (std::size_t i = 0; i < forward.size(); ++i) {
      EXPECT_FALSE(rnnopt::check_forward(n, concurrent, without(forward, i)).empty())
          << "without " << to_string(forward[i]);
      if (forward[i].kind == operation_kind::wait) continue;
      EXPECT_FALSE(rnnopt::check_forward(n, concurrent, with_twice(forward, i)).empty())
          << "twice " << to_string(forward[i]);
    }
    for (gradient_request const wanted : {gradient_request{true, true}, {true, false}, {false, true}}) {
      auto const backward = recorded_backward<TypeParam>(n, wanted);
      for (std::size_t i = 0; i < backward.size(); ++i) {
        EXPECT_FALSE(rnnopt::check_backward(n, wanted, without(backward, i)).empty())
            << "without " << to_string(backward[i]);
        if (backward[i].kind == operation_kind::wait) continue;
        EXPECT_FALSE(rnnopt::check_backward(n, wanted, with_twice(backward, i)).empty())
            << "twice " << to_string(backward[i]);
      }
    }
  }
}

TEST(schedule_check, says_what_is_wrong) {
  network const n{2, 1, 2};
  using kind = operation_kind;
  operations const good = recorded_forward<stepwise>(n);
  auto const check = [&](operations const& list) { return rnnopt::check_forward(n, 1, list); };
  ASSERT_EQ(check(good), texts());
  EXPECT_EQ(check(without(good, 1)),
            texts{"recurrent_product(layer 0, direction 0, step 0) on lane 0 is missing, on this lane or another"});
  EXPECT_EQ(check(with_twice(good, 2)), texts{"pointwise(layer 0, direction 0, step 0) on lane 0 repeats step 0"});
  operations list = good;
  list.push_back({kind::weight_gradient, 0, {0, 0}, 0, 0, 0});
  EXPECT_EQ(check(list), texts{"weight_gradient(layer 0, direction 0) on lane 0 is not part of this pass"});
  list.back() = {kind::pointwise, 0, {2, 0}, 0, 1, 0};
  EXPECT_EQ(check(list), texts{"pointwise(layer 2, direction 0, step 0) on lane 0 is outside the network"});
  list.back() = {kind::input_product, 0, {1, 0}, 1, 2, 0};
  EXPECT_EQ(check(list), texts{"input_product(layer 1, direction 0, steps 1 to 2) on lane 0 is outside the network"});
  list.back() = {kind::wait, 0, {}, 0, 0, 3};
  EXPECT_EQ(check(list), texts{"wait(event 3) on lane 0: the event has not been signalled before"});
  list = good;
  list.push_back({kind::signal, 0, {}, 0, 0, 3});
  list.push_back({kind::signal, 0, {}, 0, 0, 3});
  EXPECT_EQ(check(list), texts{"signal(event 3) on lane 0: the event has been signalled before"});
  // The upper layer on a lane of its own, without events.
  list = good;
  for (operation& op : list) op.lane = static_cast<int>(op.line.layer);
  EXPECT_EQ(
      check(list),
      (texts{"input_product(layer 1, direction 0, steps 0 to 1) on lane 1 reads its output but is not ordered after "
             "pointwise(layer 0, direction 0, step 0) on lane 0",
             "input_product(layer 1, direction 0, steps 0 to 1) on lane 1 overwrites the product it reads but is not "
             "ordered after pointwise(layer 0, direction 0, step 0) on lane 0",
             "input_product(layer 1, direction 0, steps 0 to 1) on lane 1 reads its output but is not ordered after "
             "pointwise(layer 0, direction 0, step 1) on lane 0",
             "input_product(layer 1, direction 0, steps 0 to 1) on lane 1 overwrites the product it reads but is not "
             "ordered after pointwise(layer 0, direction 0, step 1) on lane 0"}));
  // With two buffers only the order of the values is missing.
  EXPECT_EQ(rnnopt::check_forward(n, 2, list).size(), 2U);
}

// ---- on the host
// -----------------------------------------------------------------------------------------------------

/// Runs the operations of `Schedule` in a random order that its lanes and events allow.
template <class Schedule>
struct interleaved {
  static inline std::mt19937_64 generator;

  static std::int64_t concurrent_layers(network const& n) { return Schedule::concurrent_layers(n); }
  template <class Sink>
  static void forward(network const& n, Sink& sink) {
    run(recorded_forward<Schedule>(n), sink);
  }
  template <class Sink>
  static void backward(network const& n, gradient_request wanted, Sink& sink) {
    run(recorded_backward<Schedule>(n, wanted), sink);
  }

 private:
  template <class Sink>
  static void run(operations const& list, Sink& sink) {
    recorder order;
    ASSERT_TRUE(rnnopt::replay(list, order, [](std::size_t count) { return generator() % count; }));
    ASSERT_EQ(order.operations.size(), list.size());
    for (operation const& op : order.operations) rnnopt::emit(op, sink);
  }
};

template <class Cell, class Schedule>
void any_legal_order(rnnopt::extents const& e) {
  random_network<Cell, rnnopt::fp32> numbers(e);
  numbers.draw_lengths();
  SCOPED_TRACE(numbers.description());
  host_run<Cell, rnnopt::fp32> sequential(numbers);
  sequential.run();
  interleaved<Schedule>::generator.seed(numbers.seed);
  for (int repeat = 0; repeat < 10; ++repeat) {
    host_run<Cell, rnnopt::fp32, interleaved<Schedule>> shuffled(numbers);
    shuffled.run();
    // Pieces of input gradients sum in the same order as the whole.
    for (std::string const& failure : different_bits(shuffled.out, sequential.out)) ADD_FAILURE() << failure;
    EXPECT_TRUE(shuffled.guards_are_intact());
    shuffled.infer();
    EXPECT_TRUE(same_bits(shuffled.out.y, sequential.out.y));
  }
}
TYPED_TEST(schedule, any_legal_order_gives_the_same_bits) {
  any_legal_order<rnnopt::lstm, TypeParam>({3, 4, 6, 3, 5, 1});
  any_legal_order<rnnopt::lstm, TypeParam>({3, 4, 6, 3, 5, 2});
  any_legal_order<cells::peephole_lstm, TypeParam>({2, 3, 5, 2, 4, 2});
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

/// Replays a list that a test has set, in its order, right or wrong.
struct given_order {
  static inline operations forward_list, backward_list;

  static std::int64_t concurrent_layers(network const& n) { return stepwise::concurrent_layers(n); }
  template <class Sink>
  static void forward(network const&, Sink& sink) {
    for (operation const& op : forward_list) rnnopt::emit(op, sink);
  }
  template <class Sink>
  static void backward(network const&, gradient_request, Sink& sink) {
    for (operation const& op : backward_list) rnnopt::emit(op, sink);
  }
};

// On one lane the order of the list is the order of the run. So the proof has to fail exactly where two exchanged
// operations change the results; memory begins as NaN, so that whatever is read too early shows.
TEST(schedule_check, complains_exactly_where_results_change) {
  random_network<rnnopt::lstm, rnnopt::fp64> const numbers(rnnopt::extents{2, 3, 4, 2, 3, 2});
  SCOPED_TRACE(numbers.description());
  network const n{2, 2, 3};
  auto const forward = recorded_forward<stepwise>(n), backward = recorded_backward<stepwise>(n);
  host_run<rnnopt::lstm, rnnopt::fp64> right(numbers);
  right.run();
  int wrong = 0, harmless = 0;
  for (auto const* list : {&forward, &backward})
    for (std::size_t i = 0; i < list->size(); ++i)
      for (std::size_t j = i + 1; j < list->size(); ++j) {
        auto exchanged = *list;
        std::swap(exchanged[i], exchanged[j]);
        given_order::forward_list = list == &forward ? exchanged : forward;
        given_order::backward_list = list == &backward ? exchanged : backward;
        bool const complains = !rnnopt::check_forward(n, 1, given_order::forward_list).empty() ||
                               !rnnopt::check_backward(n, {}, given_order::backward_list).empty();
        host_run<rnnopt::lstm, rnnopt::fp64, given_order> run(numbers);
        run.run();
        bool const changed = !different_bits(run.out, right.out).empty();
        EXPECT_EQ(complains, changed) << to_string((*list)[i]) << " and " << to_string((*list)[j]);
        ++(complains ? wrong : harmless);
      }
  EXPECT_GT(wrong, 100);
  EXPECT_GT(harmless, 5);
}

}  // namespace

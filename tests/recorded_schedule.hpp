#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "rnnopt/recorder.hpp"
#include "rnnopt/schedule_check.hpp"

/// Schedules as lists of operations, which tests spoil and shuffle.

namespace rnnopt_tests {

using rnnopt::gradient_request;
using rnnopt::line;
using rnnopt::network;
using rnnopt::operation;
using rnnopt::operation_kind;
using rnnopt::recorder;
using operations = std::vector<operation>;

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

inline operations without(operations list, std::size_t index) {
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(index));
  return list;
}
inline operations with_twice(operations list, std::size_t index) {
  operation const op = list[index];
  list.insert(list.begin() + static_cast<std::ptrdiff_t>(index), op);
  return list;
}

inline std::string describe(network const& n) {
  return "layers " + std::to_string(n.layers) + ", directions " + std::to_string(n.directions) + ", steps " +
         std::to_string(n.steps) + ", input gates " + std::to_string(n.input_gates) + ", recurrent gates " +
         std::to_string(n.recurrent_gates);
}

/// The same operations in a random order that their lanes and events allow.
inline operations shuffled(operations const& list, std::mt19937_64& generator) {
  recorder order;
  EXPECT_TRUE(rnnopt::replay(list, order, [&](std::size_t count) { return generator() % count; }));
  EXPECT_EQ(order.operations.size(), list.size());
  return order.operations;
}

/// A schedule that emits the lists that a test has set, right or wrong.
struct given_order {
  static inline operations forward_list, backward_list;
  static inline std::int64_t layers = 1;

  static std::int64_t concurrent_layers(network const&) { return layers; }
  template <class Sink>
  static void forward(network const&, Sink& sink) {
    for (operation const& op : forward_list) rnnopt::emit(op, sink);
  }
  template <class Sink>
  static void backward(network const&, gradient_request, Sink& sink) {
    for (operation const& op : backward_list) rnnopt::emit(op, sink);
  }
};

}  // namespace rnnopt_tests

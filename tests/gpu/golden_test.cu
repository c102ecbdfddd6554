#include "cells/peephole_lstm.hpp"
#include "device_network.cuh"
#include "rnnopt/cells/gru.hpp"
#include "rnnopt/cells/lstm.hpp"
#include "rnnopt/schedules/stepwise.hpp"

/// Published numbers (cuDNN, PyTorch and ONNX definitions worked out by hand in double precision).

namespace rnnopt_tests {
namespace {

/// One unit, one input, one row; everything zero until set.
template <class Cell>
struct scalar_network {
  random_network<Cell, rnnopt::fp64> host;

  explicit scalar_network(std::int64_t steps) : host(extents_of(steps), 1) {
    for (auto* const values : {&host.x, &host.weights, &host.h}) std::fill(values->begin(), values->end(), 0.0);
    for (auto& other : host.others) std::fill(other.begin(), other.end(), 0.0);
  }
  static rnnopt::extents extents_of(std::int64_t steps) {
    rnnopt::extents e;
    e.steps = steps;
    return e;
  }
  double* input() { return host.weights.data() + host.layout.line(0).input; }
  double* bias() { return host.weights.data() + host.layout.line(0).bias; }
  double* units() { return host.weights.data() + host.layout.line(0).units; }

  results<Cell, rnnopt::fp64> run() {
    device_network<Cell, rnnopt::fp64, rnnopt::schedules::stepwise<>> device(host);
    device.plan().forward(nullptr, device.forward_arguments(false));
    return device.fetch();
  }
};

double constexpr bound = 1e-9;  // the numbers are given to ten digits

TEST(golden, lstm_gate_order) {
  scalar_network<rnnopt::lstm> network(1);
  double const bias[] = {1, -1, 0.5, 2};
  std::copy(bias, bias + 4, network.bias());
  network.host.others[0][0] = 0.25;
  auto const r = network.run();
  EXPECT_NEAR(r.others[0][0], 0.4050700675, bound);
  EXPECT_NEAR(r.h[0], 0.3384715832, bound);
}

TEST(golden, lstm_two_steps) {
  scalar_network<rnnopt::lstm> network(2);
  std::fill(network.input(), network.bias(), 0.5);
  network.host.x = {1, 1};
  auto const r = network.run();
  EXPECT_NEAR(r.y[0], 0.1742697187, bound);
  EXPECT_NEAR(r.y[1], 0.3090589306, bound);
  EXPECT_NEAR(r.others[0][0], 0.5241157234, bound);
}

TEST(golden, gru_resets_after_the_product) {
  scalar_network<rnnopt::gru> network(1);
  std::fill(network.input(), network.bias(), 1.0);
  network.bias()[3] = 1;  // n_h: without it the two forms of the cell agree at one unit
  network.host.x = {1};
  network.host.h = {0.5};
  EXPECT_NEAR(network.run().h[0], 0.5870123346, bound);
}

TEST(golden, peephole_output_gate_sees_the_new_state) {
  scalar_network<cells::peephole_lstm> network(1);
  std::fill(network.units(), network.units() + 3, 1.0);
  network.host.others[0][0] = 1;
  auto const r = network.run();
  EXPECT_NEAR(r.others[0][0], 0.7310585786, bound);
  EXPECT_NEAR(r.h[0], 0.4210293774, bound);
}

}  // namespace
}  // namespace rnnopt_tests

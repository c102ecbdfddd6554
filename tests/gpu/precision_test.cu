#include "device_network.cuh"
#include "host_reference.hpp"
#include "rnnopt/cells/lstm.hpp"
#include "rnnopt/schedules/stepwise.hpp"

/// fp32 never rounds an operand to TF32, tf32 does: their errors against double are far apart.

namespace rnnopt_tests {
namespace {

template <class Precision>
double error_of_y() {
  rnnopt::extents e;
  e.input = e.hidden = 512;
  e.batch = 16;
  e.steps = 50;
  random_network<rnnopt::lstm, Precision> const host(e);
  auto const wide = host.template in<rnnopt::fp64>();
  auto const expected = host_results<rnnopt::schedules::stepwise<>>(wide);
  device_network<rnnopt::lstm, Precision, rnnopt::schedules::stepwise<>> device(host);
  device.plan().forward(nullptr, device.forward_arguments(false));
  double const error = relative_error(device.fetch().y, expected.y);
  testing::Test::RecordProperty("relative_error", std::to_string(error));
  std::printf("[          ] relative error of y: %.3g\n", error);
  return error;
}

TEST(precision, fp32_is_strict) { EXPECT_LT(error_of_y<rnnopt::fp32>(), 1e-5); }

TEST(precision, tf32_is_not) {
  double const error = error_of_y<rnnopt::tf32>();
  EXPECT_GT(error, 1e-4);
  EXPECT_LT(error, 5e-3);
}

}  // namespace
}  // namespace rnnopt_tests

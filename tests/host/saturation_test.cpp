#include <gtest/gtest.h>

#include <cmath>

#include "host_reference.hpp"
#include "rnnopt/cells/gru.hpp"

/// Pre-activations beyond the largest 16-bit number: the forward run is finite, so backward has to be, too. One step,
/// since gradients that go through such weights again soon overflow by themselves.

namespace rnnopt_tests {
namespace {

template <class Cell>
void expect_finite_gradients() {
  random_network<Cell, rnnopt::fp16> network(rnnopt::extents{1, 2, 3, 2, 1, 1});
  SCOPED_TRACE(network.description());
  for (auto& weight : network.weights) weight = rnnopt::half(static_cast<float>(weight) > 0 ? 6e4F : -6e4F);
  auto const got = host_results<rnnopt::schedules::stepwise<>>(network);
  for (float const value : got.dweights) ASSERT_TRUE(std::isfinite(value));
}

TEST(saturation, gru) { expect_finite_gradients<rnnopt::gru>(); }
TEST(saturation, infinity_and_nan_stay) {
  float const infinite = std::numeric_limits<float>::infinity();
  using rnnopt::detail::saturate;
  EXPECT_EQ(static_cast<float>(saturate<rnnopt::half>(1e6F)), 65504.0F);
  EXPECT_EQ(static_cast<float>(saturate<rnnopt::half>(-65519.0F)), -65504.0F);
  EXPECT_EQ(static_cast<float>(saturate<rnnopt::half>(infinite)), infinite);
  EXPECT_EQ(static_cast<float>(saturate<rnnopt::half>(-infinite)), -infinite);
  EXPECT_TRUE(std::isnan(static_cast<float>(saturate<rnnopt::half>(std::nanf("")))));
  EXPECT_TRUE(std::isfinite(static_cast<float>(saturate<rnnopt::bfloat16>(std::numeric_limits<float>::max()))));
  EXPECT_EQ(saturate<float>(1e38F), 1e38F);
}

}  // namespace
}  // namespace rnnopt_tests

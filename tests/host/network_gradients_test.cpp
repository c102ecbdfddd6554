// Whole networks: every gradient against finite differences of the forward run, in double.

#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "all_cells.hpp"
#include "host_reference.hpp"

namespace {

using namespace rnnopt_tests;

template <class Cell>
class gradients_of : public host_run<Cell, rnnopt::fp64> {
  using base = host_run<Cell, rnnopt::fp64>;

 public:
  using base::base;

  void check() {
    base::run();
    check("x", base::in.x, base::out.dx);
    check("weights", base::in.weights, base::out.dweights);
    check("initial h", base::in.h, base::out.dh);
    for (std::size_t s = 0; s < base::in.other_states; ++s)
      check("initial state " + std::to_string(s + 1), base::in.others[s], base::out.dothers[s]);
    EXPECT_TRUE(base::guards_are_intact());
  }

 private:
  double loss() {
    base::infer();
    double sum = 0;
    auto const add = [&](std::vector<double> const& value, std::vector<double> const& gradient) {
      for (std::size_t i = 0; i < value.size(); ++i) sum += value[i] * gradient[i];
    };
    add(base::out.y, base::in.dy);
    add(base::out.h, base::in.dh);
    for (std::size_t s = 0; s < base::in.other_states; ++s) add(base::out.others[s], base::in.dothers[s]);
    return sum;
  }

  void check(std::string const& name, std::vector<double>& variables, std::vector<double> const& gradient) {
    ASSERT_EQ(variables.size(), gradient.size());
    double largest = 0;
    for (double const g : gradient) largest = std::fmax(largest, std::abs(g));
    for (std::size_t i = 0; i < variables.size(); ++i) {
      double const at = variables[i];
      auto const moved = [&](double by) {
        variables[i] = at + by;
        double const value = loss();
        variables[i] = at;
        return value;
      };
      auto const agrees = [&](double quotient) {
        return std::abs(quotient - gradient[i]) <= 1e-8 * std::fmax(1, largest);
      };
      double const both = 1e-4, one = 1e-5;
      double const quotient = (8 * (moved(both) - moved(-both)) - (moved(2 * both) - moved(-2 * both))) / (12 * both);
      // Near a kink only the side without it tells the derivative.
      auto const side = [&](double by) { return (4 * moved(by) - moved(2 * by) - 3 * moved(0)) / (2 * by); };
      ASSERT_TRUE(agrees(quotient) || agrees(side(one)) || agrees(side(-one)))
          << name << " [" << i << "]: gradient " << gradient[i] << ", differences " << quotient;
    }
  }
};

template <class Cell>
struct network_gradient : testing::Test {};
using every_cell = testing::Types<rnnopt::lstm, rnnopt::gru, vanilla_tanh, vanilla_relu, cells::minimal_gated_unit,
                                  cells::peephole_lstm, cells::coupled_lstm, cells::indrnn, cells::slstm>;
TYPED_TEST_SUITE(network_gradient, every_cell);

TYPED_TEST(network_gradient, is_that_of_the_forward_run) {
  for (std::int64_t layers = 1; layers <= 3; ++layers)
    for (std::int64_t directions = 1; directions <= 2; ++directions)
      for (bool const lengths : {false, true}) {
        random_network<TypeParam, rnnopt::fp64> numbers({layers, 2, 3, 3, 4, directions}, fresh_seed(), false);
        if (lengths) numbers.draw_lengths();
        SCOPED_TRACE(numbers.description() + (lengths ? ", with lengths" : ""));
        gradients_of<TypeParam>(numbers).check();
        if (this->HasFatalFailure()) return;
      }
}

}  // namespace

#include <cstdint>
#include <string>

#include "device_network.cuh"
#include "rnnopt/cells/gru.hpp"
#include "rnnopt/cells/lstm.hpp"
#include "rnnopt/device/step_plan.cuh"
#include "rnnopt/schedules/stepwise.hpp"
#include "rnnopt/schedules/wavefront.hpp"

/// Options that change only when something runs, and beside what, change no bit. Those that are compared run their
/// input products in the same pieces: for other pieces cuBLASLt may choose another algorithm, which may add in another
/// order.

namespace rnnopt_tests {
namespace {

using namespace rnnopt::schedules;

template <class Cell, class Precision, class Schedule>
results<Cell, Precision> run(random_network<Cell, Precision> const& host) {
  device_network<Cell, Precision, Schedule> network(host);
  test_stream stream;
  network.plan().forward_training(stream, network.forward_arguments(true));
  network.plan().backward(stream, network.backward_arguments());
  return network.fetch();
}

/// The first schedule against each of the others. Hidden 64 has rows of whole tiles, 72 has not, and at 33 a fused step
/// is two kernels. Several times, since an order that is not kept may happen to be the right one.
template <class Cell, class Precision, class First, class... Others>
void expect_same_bits() {
  for (std::int64_t const hidden : {64, 72, 33})
    for (int repeat = 0; repeat < 5; ++repeat) {
      random_network<Cell, Precision> const host(rnnopt::extents{3, 24, hidden, 9, 21, 1});
      SCOPED_TRACE(host.description());
      auto const expected = run<Cell, Precision, First>(host);
      int number = 0;
      auto const compare = [&](results<Cell, Precision> const& got) {
        ++number;
        for (std::string const& failure : different_bits(got, expected))
          ADD_FAILURE() << failure << ", schedule " << number << " of the others";
      };
      (compare(run<Cell, Precision, Others>(host)), ...);
    }
}

TEST(order, two_kernels_a_step) {
  expect_same_bits<rnnopt::gru, rnnopt::fp32, stepwise<input_steps<4>>, stepwise<input_steps<4>, overlapped>,
                   stepwise<input_steps<4>, overlapped, prioritised>, wavefront<input_steps<4>>,
                   wavefront<input_steps<4>, overlapped>, wavefront<input_steps<4>, overlapped, prioritised>>();
}

TEST(order, fused_steps_in_half) {
  expect_same_bits<rnnopt::lstm, rnnopt::fp16, stepwise<fused_steps, input_steps<8>>, wavefront<fused_steps>,
                   stepwise<fused_steps, input_steps<8>, overlapped, prioritised>,
                   wavefront<fused_steps, overlapped, prioritised>>();
}

TEST(order, fused_steps_in_single) {
  expect_same_bits<rnnopt::gru, rnnopt::fp32, stepwise<fused_steps, input_steps<8>>, wavefront<fused_steps>>();
}

// Otherwise the tests of fused steps would test products and pointwise kernels.
TEST(order, fused_kernels_run_where_rows_are_aligned) {
  int device = 0, major = 0;
  expect_success(cudaGetDevice(&device));
  expect_success(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  rnnopt::detail::step_plan<rnnopt::lstm, rnnopt::fp16> const even(rnnopt::extents{1, 4, 136, 65, 3, 1},
                                                                   rnnopt::product_choice::heuristic, 1),
      odd(rnnopt::extents{1, 4, 130, 65, 3, 1}, rnnopt::product_choice::heuristic, 1);
  EXPECT_EQ(even.runs(), major >= 9);
  EXPECT_FALSE(odd.runs());
}

}  // namespace
}  // namespace rnnopt_tests

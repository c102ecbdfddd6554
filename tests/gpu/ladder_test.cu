#include "network_cases.cuh"
#include "rnnopt/cells/lstm.hpp"
#include "rnnopt/schedules/wavefront.hpp"

/// The rungs of Appleyard et al. 2016, table 1, above the lowest: each switches on one more option.

namespace rnnopt_tests {

using namespace rnnopt::schedules;

using ladder = testing::Types<
    network_case<rnnopt::lstm, rnnopt::fp32, stepwise<elementwise, input_steps<1>>>,
    network_case<rnnopt::lstm, rnnopt::fp16, stepwise<elementwise, input_steps<1>, overlapped>>,
    network_case<rnnopt::lstm, rnnopt::fp32, stepwise<input_steps<1>, overlapped>>,
    network_case<rnnopt::lstm, rnnopt::fp16, stepwise<input_steps<1>, overlapped, transposed_weights>>,
    network_case<rnnopt::lstm, rnnopt::fp32, stepwise<input_steps<2>, overlapped, transposed_weights>>,
    network_case<rnnopt::lstm, rnnopt::fp16, wavefront<input_steps<2>, overlapped, transposed_weights, prioritised>>>;
INSTANTIATE_TYPED_TEST_SUITE_P(ladder, network, ladder);

}  // namespace rnnopt_tests

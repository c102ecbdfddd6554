#include "network_cases.cuh"
#include "rnnopt/cells/lstm.hpp"
#include "rnnopt/schedules/wavefront.hpp"

/// Fused steps of several layers at the same time.

namespace rnnopt_tests {

using namespace rnnopt::schedules;

using fused_wavefront =
    testing::Types<network_case<rnnopt::lstm, rnnopt::fp16, wavefront<fused_steps>>,
                   network_case<rnnopt::lstm, rnnopt::fp32, wavefront<fused_steps>>,
                   network_case<rnnopt::lstm, rnnopt::fp16,
                                wavefront<fused_steps, input_steps<2>, overlapped, prioritised, transposed_weights>>>;
INSTANTIATE_TYPED_TEST_SUITE_P(fused_wavefront, network, fused_wavefront);

}  // namespace rnnopt_tests

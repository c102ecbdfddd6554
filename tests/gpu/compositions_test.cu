#include "cells/indrnn.hpp"
#include "network_cases.cuh"
#include "rnnopt/cells/gru.hpp"
#include "rnnopt/cells/lstm.hpp"
#include "rnnopt/schedules/wavefront.hpp"

/// Options of schedules, alone and together, on the GPU; wavefront_test.cu has those with none.

namespace rnnopt_tests {

using namespace rnnopt::schedules;

using gate_by_gate = stepwise<gate_products, input_steps<1>>;
using side_by_side = stepwise<input_steps<2>, rnnopt::schedules::overlapped, rnnopt::schedules::prioritised>;
using everything = wavefront<input_steps<2>, rnnopt::schedules::overlapped, rnnopt::schedules::transposed_weights,
                             rnnopt::schedules::prioritised, gate_products>;

using single_options =
    testing::Types<network_case<rnnopt::lstm, rnnopt::fp32, gate_by_gate>,
                   network_case<rnnopt::gru, rnnopt::fp64, gate_by_gate>,
                   network_case<rnnopt::gru, rnnopt::fp32, side_by_side>,
                   network_case<rnnopt::lstm, rnnopt::fp16, stepwise<rnnopt::schedules::transposed_weights>>,
                   network_case<rnnopt::gru, rnnopt::fp32, stepwise<rnnopt::schedules::transposed_weights>>,
                   network_case<rnnopt::lstm, rnnopt::fp64, stepwise<rnnopt::schedules::transposed_weights>>>;
using many_options = testing::Types<network_case<rnnopt::lstm, rnnopt::fp32, everything>,
                                    network_case<rnnopt::gru, rnnopt::fp32, everything>,
                                    network_case<cells::indrnn, rnnopt::fp64, everything>>;
INSTANTIATE_TYPED_TEST_SUITE_P(single_options, network, single_options);
INSTANTIATE_TYPED_TEST_SUITE_P(many_options, network, many_options);

}  // namespace rnnopt_tests

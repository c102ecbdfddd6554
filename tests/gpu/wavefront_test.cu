#include "network_cases.cuh"
#include "rnnopt/cells/gru.hpp"
#include "rnnopt/cells/lstm.hpp"
#include "rnnopt/schedules/wavefront.hpp"

namespace rnnopt_tests {

INSTANTIATE_TYPED_TEST_SUITE_P(wavefront_lstm, network, every_precision<rnnopt::lstm, rnnopt::schedules::wavefront<2>>);
INSTANTIATE_TYPED_TEST_SUITE_P(
    wavefront_gru, network,
    testing::Types<network_case<rnnopt::gru, rnnopt::fp16, rnnopt::schedules::wavefront<8>>>);

}  // namespace rnnopt_tests

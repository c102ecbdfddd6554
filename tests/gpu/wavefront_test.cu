#include "network_cases.cuh"
#include "rnnopt/cells/gru.hpp"
#include "rnnopt/cells/lstm.hpp"
#include "rnnopt/schedules/wavefront.hpp"

namespace rnnopt_tests {

using chunks_of_two = every_precision<rnnopt::lstm, rnnopt::schedules::wavefront<2>>;
using chunks_of_eight = testing::Types<network_case<rnnopt::gru, rnnopt::fp16, rnnopt::schedules::wavefront<8>>>;
INSTANTIATE_TYPED_TEST_SUITE_P(wavefront_lstm, network, chunks_of_two);
INSTANTIATE_TYPED_TEST_SUITE_P(wavefront_gru, network, chunks_of_eight);

}  // namespace rnnopt_tests

#include "rnnopt/cells/lstm.hpp"

#include "network_cases.cuh"

namespace rnnopt_tests {

INSTANTIATE_TYPED_TEST_SUITE_P(lstm, network, every_precision<rnnopt::lstm>);

}  // namespace rnnopt_tests

#include "rnnopt/cells/gru.hpp"

#include "network_cases.cuh"

namespace rnnopt_tests {

INSTANTIATE_TYPED_TEST_SUITE_P(gru, network, every_precision<rnnopt::gru>);

}  // namespace rnnopt_tests

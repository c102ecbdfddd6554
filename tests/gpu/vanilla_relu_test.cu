#include "rnnopt/cells/vanilla.hpp"

#include "network_cases.cuh"

namespace rnnopt_tests {

INSTANTIATE_TYPED_TEST_SUITE_P(vanilla_relu, network, every_precision<rnnopt::vanilla<rnnopt::activations::relu>>);

}  // namespace rnnopt_tests

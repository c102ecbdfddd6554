#include "rnnopt/cells/vanilla.hpp"

#include "network_cases.cuh"

namespace rnnopt_tests {

INSTANTIATE_TYPED_TEST_SUITE_P(vanilla_tanh, network, every_precision<rnnopt::vanilla<rnnopt::activations::tanh>>);

}  // namespace rnnopt_tests

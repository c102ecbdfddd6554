#include "cells/indrnn.hpp"

#include "network_cases.cuh"

namespace rnnopt_tests {

INSTANTIATE_TYPED_TEST_SUITE_P(indrnn, network, every_precision<cells::indrnn>);

}  // namespace rnnopt_tests

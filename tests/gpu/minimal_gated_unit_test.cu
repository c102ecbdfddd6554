#include "cells/minimal_gated_unit.hpp"

#include "network_cases.cuh"

namespace rnnopt_tests {

INSTANTIATE_TYPED_TEST_SUITE_P(minimal_gated_unit, network, every_precision<cells::minimal_gated_unit>);

}  // namespace rnnopt_tests

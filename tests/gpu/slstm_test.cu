#include "cells/slstm.hpp"

#include "network_cases.cuh"

namespace rnnopt_tests {

INSTANTIATE_TYPED_TEST_SUITE_P(slstm, network, every_precision<cells::slstm>);

}  // namespace rnnopt_tests

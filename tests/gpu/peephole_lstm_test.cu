#include "cells/peephole_lstm.hpp"

#include "network_cases.cuh"

namespace rnnopt_tests {

INSTANTIATE_TYPED_TEST_SUITE_P(peephole_lstm, network, every_precision<cells::peephole_lstm>);

}  // namespace rnnopt_tests

#include "cells/coupled_lstm.hpp"

#include "network_cases.cuh"

namespace rnnopt_tests {

INSTANTIATE_TYPED_TEST_SUITE_P(coupled_lstm, network, every_precision<cells::coupled_lstm>);

}  // namespace rnnopt_tests

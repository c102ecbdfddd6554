#include "rnnopt/schedules/naive.hpp"

#include "cells/slstm.hpp"
#include "network_cases.cuh"
#include "rnnopt/cells/gru.hpp"
#include "rnnopt/cells/lstm.hpp"

/// One product for each gate, one kernel for each operation of a cell.

namespace rnnopt_tests {

using rnnopt::schedules::naive;
using naive_cells =
    testing::Types<network_case<rnnopt::lstm, rnnopt::fp32, naive>, network_case<rnnopt::lstm, rnnopt::fp16, naive>,
                   network_case<rnnopt::gru, rnnopt::fp32, naive>, network_case<cells::slstm, rnnopt::fp32, naive>>;
INSTANTIATE_TYPED_TEST_SUITE_P(naive, network, naive_cells);

}  // namespace rnnopt_tests

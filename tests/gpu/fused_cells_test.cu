#include "all_cells.hpp"
#include "network_cases.cuh"

/// Recurrent product and cell in one kernel, for one cell of each kind: split feeds, unit parameters, no R, many
/// states, one gate.

namespace rnnopt_tests {

using fused = rnnopt::schedules::stepwise<rnnopt::schedules::fused_steps>;
using fused_cells =
    testing::Types<network_case<rnnopt::gru, rnnopt::fp32, fused>, network_case<rnnopt::gru, rnnopt::fp16, fused>,
                   network_case<cells::peephole_lstm, rnnopt::bf16, fused>,
                   network_case<cells::peephole_lstm, rnnopt::fp64, fused>,
                   network_case<cells::indrnn, rnnopt::fp32, fused>, network_case<cells::slstm, rnnopt::fp32, fused>,
                   network_case<cells::slstm, rnnopt::tf32, fused>, network_case<vanilla_relu, rnnopt::fp16, fused>>;
INSTANTIATE_TYPED_TEST_SUITE_P(fused_cells, network, fused_cells);

}  // namespace rnnopt_tests

#include "network_cases.cuh"
#include "rnnopt/cells/lstm.hpp"

/// Recurrent product and cell in one kernel, for the cell that most networks are made of, in every precision.

namespace rnnopt_tests {

using fused = rnnopt::schedules::stepwise<rnnopt::schedules::fused_steps>;
using fused_lstm = every_precision<rnnopt::lstm, fused>;
INSTANTIATE_TYPED_TEST_SUITE_P(fused_lstm, network, fused_lstm);

}  // namespace rnnopt_tests

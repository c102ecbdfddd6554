#include "cells/indrnn.hpp"
#include "cells/peephole_lstm.hpp"
#include "cells/slstm.hpp"
#include "network_cases.cuh"
#include "rnnopt/cells/gru.hpp"
#include "rnnopt/cells/lstm.hpp"
#include "rnnopt/schedules/wavefront.hpp"

namespace rnnopt_tests {

using chunks_of_two = every_precision<rnnopt::lstm, rnnopt::schedules::wavefront<rnnopt::schedules::input_steps<2>>>;
using chunks_of_eight = testing::Types<  // one cell of each kind: split feeds, unit parameters, no R, many states
    network_case<rnnopt::gru, rnnopt::fp16, rnnopt::schedules::wavefront<>>,
    network_case<cells::peephole_lstm, rnnopt::fp32, rnnopt::schedules::wavefront<>>,
    network_case<cells::indrnn, rnnopt::fp16, rnnopt::schedules::wavefront<>>,
    network_case<cells::slstm, rnnopt::bf16, rnnopt::schedules::wavefront<>>>;
INSTANTIATE_TYPED_TEST_SUITE_P(wavefront_of_two, network, chunks_of_two);
INSTANTIATE_TYPED_TEST_SUITE_P(wavefront_of_eight, network, chunks_of_eight);

}  // namespace rnnopt_tests

// expect: ok

#include "rnnopt/cells/lstm.hpp"
#include "rnnopt/host_rnn.hpp"
#include "rnnopt/schedules/naive.hpp"
#include "rnnopt/schedules/wavefront.hpp"

using namespace rnnopt::schedules;

template class rnnopt::host_rnn<rnnopt::lstm, rnnopt::fp32, naive>;
template class rnnopt::host_rnn<rnnopt::lstm, rnnopt::fp32,
                                stepwise<prioritised, overlapped, transposed_weights, input_steps<1>, elementwise>>;
template class rnnopt::host_rnn<rnnopt::lstm, rnnopt::fp32, wavefront<fused_steps, overlapped, prioritised>>;

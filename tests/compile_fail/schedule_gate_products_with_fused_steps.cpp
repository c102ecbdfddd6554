// expect: rnnopt: gate_products and fused_steps contradict each other; write one of them

#include "rnnopt/cells/lstm.hpp"
#include "rnnopt/host_rnn.hpp"
#include "rnnopt/schedules/wavefront.hpp"

using namespace rnnopt::schedules;

template class rnnopt::host_rnn<rnnopt::lstm, rnnopt::fp32, wavefront<fused_steps, gate_products>>;

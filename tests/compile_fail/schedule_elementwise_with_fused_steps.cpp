// expect: rnnopt: elementwise and fused_steps contradict each other; write one of them

#include "rnnopt/cells/lstm.hpp"
#include "rnnopt/host_rnn.hpp"
#include "rnnopt/schedules/stepwise.hpp"

using namespace rnnopt::schedules;

template class rnnopt::host_rnn<rnnopt::lstm, rnnopt::fp32, stepwise<elementwise, fused_steps>>;

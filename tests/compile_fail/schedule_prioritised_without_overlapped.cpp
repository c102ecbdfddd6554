// expect: rnnopt: prioritised has no effect where all lanes are alike; write overlapped, prioritised

#include "rnnopt/cells/lstm.hpp"
#include "rnnopt/host_rnn.hpp"
#include "rnnopt/schedules/wavefront.hpp"

using namespace rnnopt::schedules;

template class rnnopt::host_rnn<rnnopt::lstm, rnnopt::fp32, wavefront<prioritised>>;

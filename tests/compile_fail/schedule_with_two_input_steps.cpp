// expect: rnnopt: the schedule is given an option twice; write it once

#include "rnnopt/cells/lstm.hpp"
#include "rnnopt/host_rnn.hpp"
#include "rnnopt/schedules/wavefront.hpp"

using namespace rnnopt::schedules;

template class rnnopt::host_rnn<rnnopt::lstm, rnnopt::fp32, wavefront<input_steps<2>, input_steps<4>>>;

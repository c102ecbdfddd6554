// expect: rnnopt: the schedule is given an option twice; write it once

#include "rnnopt/cells/lstm.hpp"
#include "rnnopt/host_rnn.hpp"
#include "rnnopt/schedules/stepwise.hpp"

using namespace rnnopt::schedules;

template class rnnopt::host_rnn<rnnopt::lstm, rnnopt::fp32, stepwise<overlapped, input_steps<2>, overlapped>>;

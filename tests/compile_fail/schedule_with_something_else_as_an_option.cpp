// expect: rnnopt: the schedule is given something that is no option; write those of schedules/options.hpp

#include "rnnopt/cells/lstm.hpp"
#include "rnnopt/host_rnn.hpp"
#include "rnnopt/schedules/stepwise.hpp"

using namespace rnnopt::schedules;

template class rnnopt::host_rnn<rnnopt::lstm, rnnopt::fp32, stepwise<overlapped, rnnopt::lstm>>;

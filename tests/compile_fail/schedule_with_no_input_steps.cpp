// expect: rnnopt: input_steps takes no steps together; write input_steps<1> or more

#include "rnnopt/cells/lstm.hpp"
#include "rnnopt/host_rnn.hpp"
#include "rnnopt/schedules/wavefront.hpp"

using namespace rnnopt::schedules;

template class rnnopt::host_rnn<rnnopt::lstm, rnnopt::fp32, wavefront<input_steps<0>>>;

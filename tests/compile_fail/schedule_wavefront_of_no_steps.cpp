// expect: rnnopt: wavefront hands on no steps; write wavefront<8>
#include "rnnopt/cells/lstm.hpp"
#include "rnnopt/host_rnn.hpp"
#include "rnnopt/schedules/wavefront.hpp"

template class rnnopt::host_rnn<rnnopt::lstm, rnnopt::fp32, rnnopt::schedules::wavefront<0>>;

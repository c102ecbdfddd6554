// expect: rnnopt: best_of is given a schedule twice; write it once
#include "rnnopt/best_of.cuh"
#include "rnnopt/cells/lstm.hpp"
#include "rnnopt/schedules/stepwise.hpp"
#include "rnnopt/schedules/wavefront.hpp"

using twice = rnnopt::schedules::best_of<rnnopt::schedules::stepwise<>, rnnopt::schedules::wavefront<>,
                                         rnnopt::schedules::stepwise<>>;
template class rnnopt::rnn<rnnopt::lstm, rnnopt::fp16, twice>;

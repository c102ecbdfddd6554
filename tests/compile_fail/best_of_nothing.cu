// expect: rnnopt: best_of has no schedule to choose; write those to choose from, in the order of preference
#include "rnnopt/best_of.cuh"
#include "rnnopt/cells/lstm.hpp"

template class rnnopt::rnn<rnnopt::lstm, rnnopt::fp16, rnnopt::schedules::best_of<>>;

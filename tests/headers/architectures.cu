// Compiled for every architecture the library promises, with hostile macros too: one network, forward and backward.
#include "rnnopt/rnnopt.cuh"

template class rnnopt::rnn<rnnopt::lstm, rnnopt::fp16, rnnopt::schedules::wavefront<>>;

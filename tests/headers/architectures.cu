// Compiled for every architecture the library promises, with hostile macros too: a network with and without fused
// steps, forward and backward.
#include "rnnopt/rnnopt.cuh"

template class rnnopt::rnn<rnnopt::lstm, rnnopt::fp16, rnnopt::schedules::wavefront<>>;
template class rnnopt::rnn<rnnopt::lstm, rnnopt::fp16, rnnopt::schedules::stepwise<rnnopt::schedules::fused_steps>>;

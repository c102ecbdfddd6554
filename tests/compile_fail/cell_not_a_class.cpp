// expect: rnnopt: the cell has data members; write an empty struct, all of it static

#include "rnnopt/host_rnn.hpp"
#include "rnnopt/schedules/stepwise.hpp"

template class rnnopt::host_rnn<int, rnnopt::fp32, rnnopt::schedules::stepwise<>>;

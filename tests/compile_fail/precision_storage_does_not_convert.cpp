// expect: rnnopt: storage and accumulate do not convert into each other; write both conversions, explicit or not

#include "rnnopt/cells/lstm.hpp"
#include "rnnopt/host_rnn.hpp"
#include "rnnopt/schedules/stepwise.hpp"

struct my_precision {
  using storage = char*;
  using accumulate = float;
  using state = float;
  static constexpr rnnopt::matrix_math math = rnnopt::matrix_math::exact;
};

template class rnnopt::host_rnn<rnnopt::lstm, my_precision, rnnopt::schedules::stepwise<>>;

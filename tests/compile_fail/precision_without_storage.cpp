// expect: rnnopt: the precision names no storage type; write using storage = float

#include "rnnopt/cells/lstm.hpp"
#include "rnnopt/host_rnn.hpp"
#include "rnnopt/schedules/stepwise.hpp"

struct my_precision {
  using accumulate = float;
  using state = float;
  static constexpr rnnopt::matrix_math math = rnnopt::matrix_math::exact;
};

template class rnnopt::host_rnn<rnnopt::lstm, my_precision, rnnopt::schedules::stepwise<>>;

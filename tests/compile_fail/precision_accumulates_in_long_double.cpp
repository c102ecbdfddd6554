// expect: rnnopt: the accumulate type is not float or double; write using accumulate = float

#include "rnnopt/cells/lstm.hpp"
#include "rnnopt/host_rnn.hpp"
#include "rnnopt/schedules/stepwise.hpp"

struct my_precision {
  using storage = float;
  using accumulate = long double;
  using state = float;
  static constexpr rnnopt::matrix_math math = rnnopt::matrix_math::exact;
};

template class rnnopt::host_rnn<rnnopt::lstm, my_precision, rnnopt::schedules::stepwise<>>;

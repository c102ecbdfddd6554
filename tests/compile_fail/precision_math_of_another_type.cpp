// expect: rnnopt: the precision does not say what the matrix units may do; write static constexpr rnnopt::matrix_math math = rnnopt::matrix_math::exact

#include "rnnopt/cells/lstm.hpp"
#include "rnnopt/host_rnn.hpp"
#include "rnnopt/schedules/stepwise.hpp"

struct my_precision {
  using storage = float;
  using accumulate = float;
  using state = float;
  static constexpr bool math = true;
};

template class rnnopt::host_rnn<rnnopt::lstm, my_precision, rnnopt::schedules::stepwise<>>;

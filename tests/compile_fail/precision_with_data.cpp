// expect: rnnopt: the precision has data members; write an empty struct, all of it static

#include "rnnopt/cells/lstm.hpp"
#include "rnnopt/host_rnn.hpp"
#include "rnnopt/schedules/stepwise.hpp"

struct my_precision {
  using storage = float;
  using accumulate = float;
  using state = float;
  static constexpr rnnopt::matrix_math math = rnnopt::matrix_math::exact;
  int bits = 32;
};

template class rnnopt::host_rnn<rnnopt::lstm, my_precision, rnnopt::schedules::stepwise<>>;

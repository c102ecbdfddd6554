// expect: rnnopt: step returns something that is no number; write return rnnopt::pack(h, ...) of the numbers it computed

#include "rnnopt/host_rnn.hpp"
#include "rnnopt/schedules/stepwise.hpp"

struct my_cell {
  using gates = rnnopt::gates<rnnopt::feed::both>;
  static constexpr int states = 1;

  template <class Gates, class States>
  RNNOPT_HD static auto step(Gates const& pre, States const&) {
    return rnnopt::pack(&pre);
  }
};

template class rnnopt::host_rnn<my_cell, rnnopt::fp32, rnnopt::schedules::stepwise<>>;

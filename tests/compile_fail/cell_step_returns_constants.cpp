// expect: ok

#include "rnnopt/host_rnn.hpp"
#include "rnnopt/schedules/stepwise.hpp"

struct my_cell {
  using gates = rnnopt::gates<rnnopt::feed::both>;
  static constexpr int states = 1;

  template <class Gates, class States>
  RNNOPT_HD static auto step(Gates const&, States const&) {
    return rnnopt::pack(0.5);
  }
};

template class rnnopt::host_rnn<my_cell, rnnopt::fp32, rnnopt::schedules::stepwise<>>;

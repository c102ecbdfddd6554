// expect: ok

#include "rnnopt/host_rnn.hpp"
#include "rnnopt/schedules/stepwise.hpp"

struct my_cell {
  using gates = rnnopt::gates<rnnopt::feed::both>;
  static constexpr int states = 1;
  static constexpr int unit_parameters = 30;

  template <class Gates, class States, class Units>
  RNNOPT_HD static auto step(Gates const& pre, States const&, Units const& units) {
    return rnnopt::pack(tanh(rnnopt::get<0>(pre)) * rnnopt::get<29>(units));
  }
};

template class rnnopt::host_rnn<my_cell, rnnopt::fp32, rnnopt::schedules::stepwise<>>;

// expect: rnnopt: gates + states + unit_parameters is above 32; write a cell with fewer of them

#include "rnnopt/host_rnn.hpp"
#include "rnnopt/schedules/stepwise.hpp"

struct my_cell {
  using gates = rnnopt::gates<rnnopt::feed::both>;
  static constexpr int states = 1;
  static constexpr int unit_parameters = 31;

  template <class Gates, class States, class Units>
  RNNOPT_HD static auto step(Gates const& pre, States const&, Units const&) {
    auto const& [a] = pre;
    return rnnopt::pack(tanh(a));
  }
};

template class rnnopt::host_rnn<my_cell, rnnopt::fp32, rnnopt::schedules::stepwise<>>;

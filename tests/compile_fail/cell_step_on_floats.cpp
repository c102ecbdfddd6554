// expect: rnnopt: the cell's step cannot be called; write template <class Gates, class States> RNNOPT_HD static auto step(Gates const&, States const&), with a third pack where it has unit_parameters

#include "rnnopt/host_rnn.hpp"
#include "rnnopt/schedules/stepwise.hpp"

struct my_cell {
  using gates = rnnopt::gates<rnnopt::feed::both>;
  static constexpr int states = 1;

  RNNOPT_HD static float step(float a, float) { return a; }
};

template class rnnopt::host_rnn<my_cell, rnnopt::fp32, rnnopt::schedules::stepwise<>>;

// expect: rnnopt: a cell needs a gate; write using gates = rnnopt::gates<rnnopt::feed::both>

#include "rnnopt/host_rnn.hpp"
#include "rnnopt/schedules/stepwise.hpp"

struct my_cell {
  using gates = rnnopt::gates<>;
  static constexpr int states = 1;

  template <class Gates, class States>
  RNNOPT_HD static auto step(Gates const& pre, States const&) {
    auto const& [a] = pre;
    return rnnopt::pack(tanh(a));
  }
};

template class rnnopt::host_rnn<my_cell, rnnopt::fp32, rnnopt::schedules::stepwise<>>;

// expect: rnnopt: the cell's backward cannot be called or returns the wrong shape; write backward(gates, states, next) (units third where it has them) returning rnnopt::gradients(pack, pack, pack), or leave it out

#include "rnnopt/host_rnn.hpp"
#include "rnnopt/schedules/stepwise.hpp"

struct my_cell {
  using gates = rnnopt::gates<rnnopt::feed::both>;
  static constexpr int states = 1;

  template <class Gates, class States>
  RNNOPT_HD static auto step(Gates const& pre, States const&) {
    auto const& [a] = pre;
    return rnnopt::pack(tanh(a));
  }

  template <class Gates, class States, class Next>
  RNNOPT_HD static auto backward(Gates const&, States const&, Next const& next) {
    return rnnopt::gradients(next, rnnopt::pack(0, 0));
  }
};

template class rnnopt::host_rnn<my_cell, rnnopt::fp32, rnnopt::schedules::stepwise<>>;

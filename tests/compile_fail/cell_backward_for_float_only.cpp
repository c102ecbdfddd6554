// expect: rnnopt: the cell's backward cannot be called or returns the wrong shape; write backward(gates, states, next) (units third where it has them) returning rnnopt::gradients(pack, pack, pack), or leave it out

#include "rnnopt/host_rnn.hpp"
#include "rnnopt/schedules/stepwise.hpp"

struct my_cell {
  using gates = rnnopt::gates<rnnopt::feed::both>;
  static constexpr int states = 1;

  template <class Gates, class States>
  RNNOPT_HD static auto step(Gates const& pre, States const&) {
    return rnnopt::pack(tanh(rnnopt::get<0>(pre)));
  }

  using number = rnnopt::dual<float>;
  RNNOPT_HD static auto backward(rnnopt::pack<number> const&, rnnopt::pack<number> const&,
                                 rnnopt::pack<number> const& next) {
    return rnnopt::gradients(rnnopt::pack(rnnopt::get<0>(next)), rnnopt::pack(0));
  }
};

template class rnnopt::host_rnn<my_cell, rnnopt::fp64, rnnopt::schedules::stepwise<>>;

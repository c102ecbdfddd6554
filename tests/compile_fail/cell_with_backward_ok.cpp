// expect: ok

#include "rnnopt/host_rnn.hpp"
#include "rnnopt/schedules/stepwise.hpp"

struct my_cell {
  using gates = rnnopt::gates<rnnopt::feed::both>;
  static constexpr int states = 1;
  static constexpr int unit_parameters = 1;

  template <class Gates, class States, class Units>
  RNNOPT_HD static auto step(Gates const& pre, States const& previous, Units const& units) {
    return rnnopt::pack(rnnopt::get<0>(pre) + rnnopt::get<0>(units) * rnnopt::get<0>(previous));
  }

  template <class Gates, class States, class Units, class Next>
  RNNOPT_HD static auto backward(Gates const&, States const& previous, Units const& units, Next const& next) {
    auto const dh = rnnopt::get<0>(next);
    return rnnopt::gradients(next, rnnopt::pack(dh * rnnopt::get<0>(units)),
                             rnnopt::pack(dh * rnnopt::get<0>(previous)));
  }
};

template class rnnopt::host_rnn<my_cell, rnnopt::fp32, rnnopt::schedules::stepwise<>>;

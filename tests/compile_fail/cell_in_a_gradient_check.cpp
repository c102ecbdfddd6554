// expect: rnnopt: the cell declares no states; write static constexpr int states = 1

#include "rnnopt/gradient_check.hpp"

struct my_cell {
  using gates = rnnopt::gates<rnnopt::feed::both>;
};

auto const result = rnnopt::gradient_check<my_cell>();

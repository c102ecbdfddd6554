// expect: rnnopt: the cell declares no states; write static constexpr int states = 1

#include "rnnopt/weights.hpp"

struct my_cell {
  using gates = rnnopt::gates<rnnopt::feed::both>;
};

rnnopt::weight_layout<my_cell> const layout({1, 1, 1, 1, 1, 1});

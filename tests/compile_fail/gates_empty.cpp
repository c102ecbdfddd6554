// expect: rnnopt: a cell needs a gate; write using gates = rnnopt::gates<rnnopt::feed::both>

#include "rnnopt/gates.hpp"

static_assert(rnnopt::gates<>::count == 0);

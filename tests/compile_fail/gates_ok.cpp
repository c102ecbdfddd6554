// expect: ok

#include "rnnopt/gates.hpp"

static_assert(rnnopt::gates<rnnopt::feed::both, rnnopt::feed::input>::count == 2);

#include "cells.hpp"
#include "in_every_precision.cuh"
#include "rnnopt/cells/lstm.hpp"

namespace bench {

std::vector<problem_kind> lstm_problems() { return problems_of<rnnopt::lstm>("lstm"); }

}  // namespace bench

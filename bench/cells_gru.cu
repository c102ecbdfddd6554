#include "cells.hpp"
#include "in_every_precision.cuh"
#include "rnnopt/cells/gru.hpp"

namespace bench {

std::vector<problem_kind> gru_problems() { return problems_of<rnnopt::gru>("gru"); }

}  // namespace bench

#include "cells.hpp"
#include "in_every_precision.cuh"
#include "rnnopt/cells/vanilla.hpp"

namespace bench {

std::vector<problem_kind> vanilla_tanh_problems() {
  return problems_of<rnnopt::vanilla<rnnopt::activations::tanh>>("vanilla_tanh");
}

}  // namespace bench

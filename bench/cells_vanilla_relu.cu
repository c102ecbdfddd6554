#include "cells.hpp"
#include "in_every_precision.cuh"
#include "rnnopt/cells/vanilla.hpp"

namespace bench {

std::vector<problem_kind> vanilla_relu_problems() {
  return problems_of<rnnopt::vanilla<rnnopt::activations::relu>>("vanilla_relu");
}

}  // namespace bench

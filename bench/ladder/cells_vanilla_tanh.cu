#include "ladder/cells.hpp"
#include "ladder/problems_of.cuh"
#include "rnnopt/cells/vanilla.hpp"

namespace bench::ladder {

std::vector<problem_kind> vanilla_tanh_problems() {
  return problems_of<rnnopt::vanilla<rnnopt::activations::tanh>>("vanilla_tanh");
}

}  // namespace bench::ladder

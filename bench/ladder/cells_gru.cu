#include "ladder/cells.hpp"
#include "ladder/problems_of.cuh"
#include "rnnopt/cells/gru.hpp"

namespace bench::ladder {

std::vector<problem_kind> gru_problems() { return problems_of<rnnopt::gru>("gru"); }

}  // namespace bench::ladder

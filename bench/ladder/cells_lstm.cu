#include "ladder/cells.hpp"
#include "ladder/problems_of.cuh"
#include "rnnopt/cells/lstm.hpp"

namespace bench::ladder {

std::vector<problem_kind> lstm_problems() { return problems_of<rnnopt::lstm>("lstm"); }

}  // namespace bench::ladder

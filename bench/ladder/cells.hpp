#pragma once

#include <vector>

#include "problem.hpp"

namespace bench::ladder {

/// The problems of one cell under every rung of the ladder; each is defined in the cells_*.cu of the same name.
std::vector<problem_kind> lstm_problems();
std::vector<problem_kind> gru_problems();
std::vector<problem_kind> vanilla_tanh_problems();

}  // namespace bench::ladder

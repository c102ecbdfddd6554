#pragma once

#include <vector>

#include "problem.hpp"

namespace bench {

/// The problems of one cell in every precision; each is defined in the cells_*.cu of the same name.
std::vector<problem_kind> lstm_problems();
std::vector<problem_kind> gru_problems();
std::vector<problem_kind> vanilla_tanh_problems();
std::vector<problem_kind> vanilla_relu_problems();

/// All of them.
std::vector<problem_kind> problem_kinds();

/// Names of the compiled schedules.
std::vector<std::string> schedule_names();

}  // namespace bench

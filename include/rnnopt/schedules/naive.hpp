#pragma once

#include "rnnopt/schedules/stepwise.hpp"

namespace rnnopt::schedules {

/// @brief One product for each gate and step, one kernel for each operation of the cell: where Appleyard et al. 2016
/// start from (table 1, row 0), there to be measured against.
struct naive : stepwise<gate_products, elementwise, input_steps<1>> {};

}  // namespace rnnopt::schedules

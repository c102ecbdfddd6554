#pragma once

#include <vector>

#include "problem_of.cuh"
#include "schedules.hpp"

namespace bench {

/// A cell in every precision, under the compiled schedules.
template <class Cell>
std::vector<problem_kind> problems_of(char const* cell) {
  return {kind_of<compiled_schedules, Cell, rnnopt::fp32>(cell, "fp32"),
          kind_of<compiled_schedules, Cell, rnnopt::tf32>(cell, "tf32"),
          kind_of<compiled_schedules, Cell, rnnopt::fp16>(cell, "fp16"),
          kind_of<compiled_schedules, Cell, rnnopt::bf16>(cell, "bf16"),
          kind_of<compiled_schedules, Cell, rnnopt::fp64>(cell, "fp64")};
}

}  // namespace bench

#pragma once

#include <vector>

#include "ladder/rungs.hpp"
#include "problem_of.cuh"

namespace bench::ladder {

/// A cell in every precision of the ladder, under all of its rungs.
template <class Cell>
std::vector<problem_kind> problems_of(char const* cell) {
  return {kind_of<rungs, Cell, rnnopt::fp32>(cell, "fp32"), kind_of<rungs, Cell, rnnopt::tf32>(cell, "tf32"),
          kind_of<rungs, Cell, rnnopt::fp16>(cell, "fp16"), kind_of<rungs, Cell, rnnopt::bf16>(cell, "bf16")};
}

}  // namespace bench::ladder

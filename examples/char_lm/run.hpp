#pragma once

#include "checkpoint.hpp"
#include "options.hpp"

namespace char_lm {

/// Trains and samples with the given cell; `from` may be null. Each cell is compiled in a file of its own, run_*.cpp.
template <class Cell>
void run(options const& o, checkpoint const* from);

}  // namespace char_lm

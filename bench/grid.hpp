#pragma once

#include <string>
#include <vector>

#include "shape.hpp"

namespace bench {

/// Reads a CSV whose first line names the columns; those of `shape` are required, in any order, others are ignored.
/// Lines that are blank or start with '#' are skipped.
/// Throws std::invalid_argument, one line that names the file and the line in it.
std::vector<shape> read_grid(std::string const& path);

}  // namespace bench

#pragma once

#include <optional>
#include <string>

#include "cost_model.hpp"
#include "schedules.hpp"

namespace schedule_tool {

/// What the command line asks for.
struct options {
  listed_schedule schedule;
  schedule_tool::pass pass = pass::forward;
  rnnopt::extents extents{4, 512, 512, 64, 100, 1};  ///< the network of Appleyard et al. 2016, table 1
  cell_cost cell;
  precision_cost precision;
  std::optional<std::string> svg;
  bool list = false;
  bool help = false;
};

std::string usage();

/// @throws std::invalid_argument that says which option is wrong and what it needs
options parse_options(int argc, char** argv);

}  // namespace schedule_tool

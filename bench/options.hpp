#pragma once

#include <string>
#include <vector>

#include "rnnopt/product_choice.hpp"

namespace bench {

/// What the command line asks for.
struct options {
  std::string grid = "bench/grid.csv";
  std::vector<std::string> schedules;
  std::vector<std::string> cudnn_algorithms;
  std::string csv;     ///< empty: none is written
  std::string filter;  ///< only rows of the grid that contain it
  rnnopt::product_choice products = rnnopt::product_choice::heuristic;
  int repetitions = 15;
  bool check = true;
  bool help = false;
};

/// What may be asked for by name.
struct known_names {
  std::vector<std::string> schedules;
  std::vector<std::string> cudnn_algorithms;
};

/// Throws std::invalid_argument, one line.
options parse_options(int argc, char** argv, known_names const& known);

/// What --help prints.
std::string usage(known_names const& known);

}  // namespace bench

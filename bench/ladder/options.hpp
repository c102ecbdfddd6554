#pragma once

#include <string>
#include <vector>

#include "rnnopt/product_choice.hpp"

namespace bench::ladder {

/// What the command line asks for. Extents are those of Appleyard et al. 2016 unless given.
struct options {
  std::vector<std::string> cells;
  std::vector<std::string> precisions{"fp32"};
  std::vector<std::string> rungs;  ///< numbers, from "0"
  int hidden = 512;
  int batch = 64;
  int steps = 100;
  int layers = 4;
  rnnopt::product_choice products = rnnopt::product_choice::heuristic;
  bool cudnn = true;
  int repetitions = 15;
  bool check = true;
  std::string csv;  ///< empty: none is written
  bool help = false;
};

/// What may be asked for by name; cells and rungs are all done unless some are named.
struct known_names {
  std::vector<std::string> cells;
  std::vector<std::string> precisions;
  std::vector<std::string> rungs;
};

/// Throws std::invalid_argument, one line.
options parse_options(int argc, char** argv, known_names const& known);

/// What --help prints.
std::string usage(known_names const& known);

}  // namespace bench::ladder

#pragma once

#include <string>
#include <vector>

#include "rnnopt/product_choice.hpp"

namespace bench {

/// Everything that a figure has to be quoted with, line by line: device, versions, clock, date and command.
std::vector<std::string> conditions(int argc, char** argv, bool cudnn_timed, rnnopt::product_choice products);

/// Why this program has no GPU to run on; empty where it has one.
std::string no_gpu_reason();

}  // namespace bench

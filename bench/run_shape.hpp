#pragma once

#include <string>
#include <vector>

#include "measure.hpp"
#include "problem.hpp"
#include "shape.hpp"

#include "rnnopt/product_choice.hpp"

namespace bench {

/// What came out of one schedule on one shape.
struct schedule_result {
  std::string schedule;
  timings times;
  pass_errors errors;
  pass_fingerprints fingerprints;
  std::string reason;        ///< why nothing was timed; empty otherwise
  std::string check_reason;  ///< why nothing was compared; empty otherwise
};

/// What came out of one cuDNN algorithm on one shape.
struct cudnn_result {
  std::string algorithm;
  timings times;
  std::string reason;  ///< why nothing was timed; empty otherwise
};

struct shape_result {
  shape row;
  std::vector<schedule_result> schedules;
  std::vector<cudnn_result> cudnn;
};

/// What to do with a shape.
struct shape_request {
  std::vector<std::string> schedules;
  std::vector<std::string> cudnn_algorithms;
  std::vector<timed_pass> passes;
  rnnopt::product_choice products = rnnopt::product_choice::heuristic;
  int repetitions = 15;
  bool check = true;         ///< compare with the host oracle
  bool fingerprint = false;  ///< so that two schedules can be compared bit by bit
};

/// Times all that is asked for side by side, then checks it. What goes wrong is a reason in the result.
shape_result run_shape(shape const& s, shape_request const& asked, std::vector<problem_kind> const& kinds,
                       cudaStream_t stream);

}  // namespace bench

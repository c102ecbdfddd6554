#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "measure.hpp"
#include "problem.hpp"
#include "shape.hpp"

namespace bench {

/// What came out of one schedule on one shape.
struct schedule_result {
  std::string schedule;
  timings times;
  pass_errors errors;
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

/// Largest relative error of a pass that computes the right thing: far above rounding, far below a mistake.
double largest_error(std::string const& precision);

/// Prints a table to stdout and writes the CSV, shape by shape, and keeps what the summary needs.
class report {
 public:
  /// `header` lines go to both, each after "# "; throws where the file cannot be written.
  report(std::vector<std::string> const& header, std::string const& csv_path, bool with_cudnn);

  void add(shape_result const& result);

  /// Geometric means and worst rows of cuDNN's time over ours.
  void print_summary() const;

  int wrong_results() const { return wrong_results_; }
  int timings_taken() const { return timings_taken_; }

 private:
  struct sample {
    std::string schedule;
    timed_pass pass;
    std::string row;
    double standard_ratio;  // 0: none
    double best_ratio;
  };

  void print_table(shape_result const& result, schedule_result const& ours);
  void write_csv(shape_result const& result, schedule_result const& ours);

  struct close_file {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, close_file> csv_;
  bool with_cudnn_;
  std::vector<sample> samples_;
  int wrong_results_ = 0;
  int timings_taken_ = 0;
};

}  // namespace bench

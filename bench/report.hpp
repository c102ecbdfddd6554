#pragma once

#include <string>
#include <vector>

#include "csv.hpp"
#include "run_shape.hpp"

namespace bench {

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

  csv_file csv_;
  bool with_cudnn_;
  std::vector<sample> samples_;
  int wrong_results_ = 0;
  int timings_taken_ = 0;
};

}  // namespace bench

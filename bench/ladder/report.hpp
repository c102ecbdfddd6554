#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "csv.hpp"
#include "ladder/product_rate.hpp"
#include "run_shape.hpp"

namespace bench::ladder {

/// The passes that the ladder is climbed with.
inline constexpr std::array<timed_pass, 2> ladder_passes{timed_pass::forward_training, timed_pass::backward_data};

/// One rung, or cuDNN, in one pass and launch mode.
struct result_line {
  std::string rung;  ///< its number; empty for cuDNN
  std::string name;
  std::string schedule;
  timed_pass pass;
  launch_mode mode;
  timing time{};
  double gflops = 0;         ///< 0: not run
  double speedup = 0;        ///< over rung 0; 0 where one of the two was not run
  double paper_speedup = 0;  ///< 0 where the paper has none
  std::optional<double> error{};
  bool wrong = false;
  std::optional<bool> same_bits{};  ///< as the rung whose operations it only reorders
  std::string reason{};             ///< why there is no time or no error

  /// cuDNN may refuse; a rung may not.
  bool failed() const {
    return !rung.empty() && (!time.ran() || wrong || !same_bits.value_or(true) || !reason.empty());
  }
};

/// What came out of the rungs, whose names are its schedules, and of cuDNN; pass by pass.
std::vector<result_line> result_lines(shape_result const& result);

/// What came out of the large product, or why nothing did.
struct product_result {
  product_rate rate;
  std::string reason;
};

/// Prints tables to stdout and writes the CSV.
class report {
 public:
  /// `header` lines go to both, each after "# "; throws where the file cannot be written.
  report(std::vector<std::string> const& header, std::string const& csv_path);

  void add(shape_result const& result, product_result const& product);

  /// Rungs in one pass and mode that did not run, are wrong, or differ in bits.
  int failures() const { return failures_; }

 private:
  csv_file csv_;
  int failures_ = 0;
};

}  // namespace bench::ladder

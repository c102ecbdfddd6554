#pragma once

#include <array>
#include <string>
#include <vector>

#include "contender.hpp"

namespace bench {

/// Median time of one contender, pass and launch mode; or why there is none.
struct timing {
  double microseconds = 0;
  int repetitions = 0;  ///< 0: not run
  std::string reason;

  bool ran() const { return repetitions > 0; }
};

/// All timings of one contender.
class timings {
 public:
  timing& at(timed_pass pass, launch_mode mode) { return values_[std::size_t(pass)][std::size_t(mode)]; }
  timing const& at(timed_pass pass, launch_mode mode) const { return values_[std::size_t(pass)][std::size_t(mode)]; }

 private:
  std::array<std::array<timing, launch_modes.size()>, timed_passes.size()> values_;
};

/// Times passes of every contender in both launch modes on one idle device; one result per contender.
///
/// Contenders take turns: five timed runs back to back after one that is not timed, then the next contender, until each
/// has its number of runs; so drifting clocks hit all of them alike. Each run is timed by events and waited for.
/// A pass gets `repetitions` timed runs, or fewer where those would take more than a tenth of a second, but no fewer
/// than five on that ground. A pass needs the one whose results it reads among those before it in `passes`.
std::vector<timings> measure(std::vector<contender*> const& contenders, std::vector<timed_pass> const& passes,
                             int repetitions, cudaStream_t stream);

}  // namespace bench

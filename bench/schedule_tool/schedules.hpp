#pragma once

#include <string>
#include <vector>

#include "rnnopt/recorder.hpp"
#include "rnnopt/schedule.hpp"

namespace schedule_tool {

enum class pass { forward, backward };

/// A schedule that can be asked for by name.
struct listed_schedule {
  std::string name;
  std::string type;  ///< within rnnopt::schedules
  std::vector<rnnopt::operation> (*record)(rnnopt::network const&, pass);
  std::vector<std::string> (*violations)(rnnopt::network const&);  ///< as check_schedule finds them
};

/// The rungs of the ladder (ladder/rungs.hpp), from the bottom, and the schedule of sweeps.
std::vector<listed_schedule> const& listed_schedules();

}  // namespace schedule_tool

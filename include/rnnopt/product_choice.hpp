#pragma once

namespace rnnopt {

/// @brief How a plan chooses the algorithm of each product, the kernel of a fused step and, of schedules::best_of, the
/// schedule.
enum class product_choice {
  heuristic,         ///< by a model, without timing: the same on every run, so two plans give the same bits
  measured,          ///< the fastest, timed alone while planning: two plans may differ in the last bits
  measured_together  ///< the fastest while as many run at once as the schedule has layers in flight: planning takes
                     ///< that many times the memory of the largest product
};

}  // namespace rnnopt

#include "cells.hpp"
#include "schedules.hpp"

namespace bench {

std::vector<problem_kind> problem_kinds() {
  std::vector<problem_kind> all;
  for (auto const& kinds : {lstm_problems(), gru_problems(), vanilla_tanh_problems(), vanilla_relu_problems()})
    all.insert(all.end(), kinds.begin(), kinds.end());
  return all;
}

std::vector<std::string> schedule_names() {
  return std::apply([](auto const&... schedule) { return std::vector<std::string>{schedule.name...}; },
                    compiled_schedules);
}

}  // namespace bench

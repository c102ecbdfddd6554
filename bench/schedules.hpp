#pragma once

#include <tuple>

#include "rnnopt/schedules/cluster.hpp"
#include "rnnopt/schedules/stepwise.hpp"
#include "rnnopt/schedules/wavefront.hpp"

namespace bench {

/// A schedule and the name by which it is asked for.
template <class Schedule>
struct named_schedule {
  using type = Schedule;
  char const* name;
};

/// The schedules this program is compiled with: the one place to add another.
inline constexpr std::tuple compiled_schedules{
    named_schedule<rnnopt::schedules::stepwise<>>{"stepwise"},
    named_schedule<rnnopt::schedules::wavefront<>>{"wavefront"},
    named_schedule<rnnopt::schedules::stepwise<rnnopt::schedules::fused_steps>>{"stepwise_fused"},
    named_schedule<rnnopt::schedules::wavefront<rnnopt::schedules::fused_steps>>{"wavefront_fused"},
    named_schedule<rnnopt::schedules::wavefront<rnnopt::schedules::fused_steps, rnnopt::schedules::overlapped,
                                                rnnopt::schedules::prioritised>>{"wavefront_fused_overlapped"},
    named_schedule<rnnopt::schedules::cluster>{"cluster"},
};

}  // namespace bench

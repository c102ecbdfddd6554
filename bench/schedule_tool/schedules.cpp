#include "schedules.hpp"

#include <tuple>

#include "ladder/rungs.hpp"
#include "rnnopt/schedule_check.hpp"

namespace schedule_tool {
namespace {

template <class Schedule>
std::vector<rnnopt::operation> record(rnnopt::network const& n, pass wanted) {
  rnnopt::recorder sink;
  if (wanted == pass::forward) Schedule::forward(n, sink);
  else Schedule::backward(n, {true, true}, sink);
  return sink.operations;
}

template <class Schedule>
listed_schedule listed(bench::ladder::rung<Schedule> const& rung) {
  return {rung.name, rung.schedule, record<Schedule>, rnnopt::check_schedule<Schedule>};
}

}  // namespace

std::vector<listed_schedule> const& listed_schedules() {
  static auto const list = std::apply([](auto const&... rung) { return std::vector<listed_schedule>{listed(rung)...}; },
                                      bench::ladder::rungs);
  return list;
}

}  // namespace schedule_tool

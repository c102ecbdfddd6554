#include "schedules.hpp"

#include <tuple>

#include "ladder/rungs.hpp"
#include "rnnopt/schedule_check.hpp"
#include "rnnopt/schedules/cluster.hpp"

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
listed_schedule listed(char const* name, char const* type) {
  return {name, type, record<Schedule>, rnnopt::check_schedule<Schedule>};
}
template <class Schedule>
listed_schedule listed(bench::ladder::rung<Schedule> const& rung) {
  return listed<Schedule>(rung.name, rung.schedule);
}

}  // namespace

std::vector<listed_schedule> const& listed_schedules() {
  static auto const list = std::apply(
      [](auto const&... rung) {
        return std::vector<listed_schedule>{listed(rung)..., listed<rnnopt::schedules::cluster>("cluster", "cluster")};
      },
      bench::ladder::rungs);
  return list;
}

}  // namespace schedule_tool

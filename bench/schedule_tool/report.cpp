#include "report.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>

#include "drawing.hpp"

namespace schedule_tool {
namespace {

constexpr int columns = 100;

/// How many operations of a kind, and how long they take together.
struct tally {
  std::size_t count = 0;
  double microseconds = 0;
};
using tallies = std::map<rnnopt::operation_kind, tally>;

tallies count_kinds(std::vector<rnnopt::operation> const& operations, std::vector<span> const& spans,
                    std::vector<std::size_t> const& which) {
  tallies result;
  for (std::size_t const i : which) {
    if (!is_work(operations[i])) continue;
    tally& of_kind = result[operations[i].kind];
    ++of_kind.count;
    of_kind.microseconds += spans[i].length();
  }
  return result;
}

double sum_of(tallies const& kinds) {
  double sum = 0;
  for (auto const& [kind, of_kind] : kinds) sum += of_kind.microseconds;
  return sum;
}

template <class... Values>
std::string print(char const* format, Values... values) {
  char text[200];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

std::string table_of(tallies const& kinds) {
  std::string text;
  double const sum = sum_of(kinds);
  for (auto const& [kind, of_kind] : kinds)
    text += print("  %-26s %6zu  %10.1f us  %5.1f %%\n", rnnopt::detail::form_of(kind).name, of_kind.count,
                  of_kind.microseconds, 100 * of_kind.microseconds / sum);
  return text;
}

}  // namespace

std::string network_of(options const& asked) {
  rnnopt::extents const& e = asked.extents;
  auto const counted = [](std::int64_t count, std::string const& what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
  };
  return asked.cell.name + ", " + asked.precision.name + ", " + counted(e.layers, "layer") + ", " +
         counted(e.directions, "direction") + ", " + counted(e.steps, "step") + ", hidden " + std::to_string(e.hidden) +
         ", batch " + std::to_string(e.batch);
}

std::string report_of(options const& asked, std::vector<rnnopt::operation> const& operations,
                      std::vector<span> const& spans) {
  std::vector<std::size_t> all(operations.size());
  std::iota(all.begin(), all.end(), std::size_t(0));
  std::vector<std::size_t> const path = critical_path(operations, spans);
  tallies const kinds = count_kinds(operations, spans, all), on_path = count_kinds(operations, spans, path);
  width const at_once = width_of(operations, spans);
  auto const of_kind = [&](rnnopt::operation_kind kind) {
    return std::count_if(operations.begin(), operations.end(), [&](auto const& op) { return op.kind == kind; });
  };
  auto const signals = of_kind(rnnopt::operation_kind::signal), waits = of_kind(rnnopt::operation_kind::wait);

  std::string text = asked.schedule.name + ", " + (asked.pass == pass::forward ? "forward" : "backward") + "\n";
  text += asked.schedule.type + "\n" + network_of(asked) + "\n";
  text += "proven: every operation runs once and after what it needs, however fast the lanes run\n";
  text += "times of a model: lanes run at once without limit, each operation as if it had the GPU to itself\n\n";

  text += print("operations     %zu\n", all.size() - std::size_t(signals + waits)) + table_of(kinds);
  text += print("lanes          %zu\n", rows_of_lanes(operations).size());
  text += print("events         %td signals, %td waits\n", signals, waits);
  text += print("work           %.1f us\n", sum_of(kinds));
  text += print("total time     %.1f us\n", total_time(spans));
  text += print("width          %.2f operations at once on average, %d at most\n", at_once.average, at_once.largest);
  text += print("critical path  %.1f us, %zu operations\n", sum_of(on_path), path.size()) + table_of(on_path);

  text += print("\n%.1f us a place\n", total_time(spans) / double(drawing_places(columns)));
  for (auto const& [letter, look] : appearances_in(operations))
    text += std::string(1, letter) + " " + look.meaning + ", ";
  return text + ". nothing\n" + drawing_of(operations, spans, columns);
}

}  // namespace schedule_tool

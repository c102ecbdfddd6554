// What a schedule does, before any kernel runs: proven, timed by a model, drawn.

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <stdexcept>

#include "command_line.hpp"
#include "options.hpp"
#include "report.hpp"
#include "svg.hpp"

namespace schedule_tool {
namespace {

void write(std::string const& path, std::string const& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) throw std::runtime_error("--svg " + path + " cannot be written");
}

int show(options const& asked) {
  rnnopt::network const n{asked.extents.layers, asked.extents.directions, asked.extents.steps,
                          asked.cell.shape.input_gates, asked.cell.shape.recurrent_gates};
  std::vector<std::string> const wrong = asked.schedule.violations(n);
  if (!wrong.empty()) throw std::runtime_error(asked.schedule.name + " is wrong: " + wrong.front());

  std::vector<rnnopt::operation> const operations = asked.schedule.record(n, asked.pass);
  std::vector<span> const spans = run(operations, cost_model(asked.extents, asked.cell, asked.precision));
  if (asked.svg)
    write(*asked.svg, svg_of(asked.schedule.type + (asked.pass == pass::forward ? ", forward: " : ", backward: ") +
                                 network_of(asked),
                             operations, spans));
  std::fputs(report_of(asked, operations, spans).c_str(), stdout);
  return 0;
}

int run_all(int argc, char** argv) {
  options const asked = parse_options(argc, argv);
  if (asked.help) {
    std::fputs(usage().c_str(), stdout);
    return 0;
  }
  if (asked.list) {
    auto const all = listed_schedules();
    std::size_t widest = 0;
    for (listed_schedule const& listed : all) widest = std::max(widest, listed.name.size());
    for (listed_schedule const& listed : all)
      std::printf("%-*s  %s\n", int(widest), listed.name.c_str(), listed.type.c_str());
    return 0;
  }
  return show(asked);
}

}  // namespace
}  // namespace schedule_tool

int main(int argc, char** argv) {
  return bench::exit_code_of("rnnopt_schedule", [&] { return schedule_tool::run_all(argc, argv); });
}

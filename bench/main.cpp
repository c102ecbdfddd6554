#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "cells.hpp"
#include "command_line.hpp"
#include "conditions.hpp"
#include "cudnn_contender.hpp"
#include "device.hpp"
#include "grid.hpp"
#include "options.hpp"
#include "report.hpp"
#include "run_shape.hpp"

namespace bench {
namespace {

int run_all(int argc, char** argv) {
  known_names const known{schedule_names(), cudnn_algorithms()};
  options const asked = parse_options(argc, argv, known);
  if (asked.help) {
    std::fputs(usage(known).c_str(), stdout);
    return 0;
  }
  std::vector<shape> shapes = read_grid(asked.grid);
  shapes.erase(std::remove_if(shapes.begin(), shapes.end(),
                              [&](shape const& s) { return row_of(s).find(asked.filter) == std::string::npos; }),
               shapes.end());
  if (shapes.empty()) throw std::invalid_argument("no row of " + asked.grid + " contains '" + asked.filter + "'");

  if (std::string const no_gpu = no_gpu_reason(); !no_gpu.empty()) {
    std::fprintf(stderr, "rnnopt_bench: there is no usable GPU: %s\n", no_gpu.c_str());
    return 1;
  }
  bool const with_cudnn = !asked.cudnn_algorithms.empty();
  report out(conditions(argc, argv, with_cudnn, asked.products), asked.csv, with_cudnn);
  shape_request const request{asked.schedules, asked.cudnn_algorithms, {timed_passes.begin(), timed_passes.end()},
                              asked.products,  asked.repetitions,      asked.check};
  std::vector<problem_kind> const kinds = problem_kinds();
  device_stream const stream;
  for (shape const& s : shapes) out.add(run_shape(s, request, kinds, stream));
  out.print_summary();
  if (out.wrong_results() > 0)
    std::fprintf(stderr, "rnnopt_bench: %d results differ from the host executor's, marked WRONG above\n",
                 out.wrong_results());
  if (out.timings_taken() == 0) std::fprintf(stderr, "rnnopt_bench: nothing could be run, see the reasons above\n");
  return out.wrong_results() > 0 || out.timings_taken() == 0 ? 1 : 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::exit_code_of("rnnopt_bench", [&] { return bench::run_all(argc, argv); });
}

#include <cstdio>
#include <exception>
#include <map>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "conditions.hpp"
#include "cudnn_contender.hpp"
#include "device.hpp"
#include "ladder/cells.hpp"
#include "ladder/options.hpp"
#include "ladder/product_rate.hpp"
#include "ladder/report.hpp"
#include "ladder/rungs.hpp"
#include "run_shape.hpp"

namespace bench::ladder {
namespace {

std::vector<problem_kind> problem_kinds() {
  std::vector<problem_kind> all;
  for (auto const& kinds : {lstm_problems(), gru_problems(), vanilla_tanh_problems()})
    all.insert(all.end(), kinds.begin(), kinds.end());
  return all;
}

known_names known(std::vector<rung_description> const& rungs) {
  known_names names{{"lstm", "gru", "vanilla_tanh"}, {"fp32", "tf32", "fp16", "bf16"}, {}};
  for (std::size_t i = 0; i < rungs.size(); ++i) names.rungs.push_back(std::to_string(i));
  return names;
}

shape_request request_of(options const& asked, std::vector<rung_description> const& rungs) {
  shape_request request;
  for (std::string const& number : asked.rungs) request.schedules.push_back(rungs[std::stoul(number)].name);
  if (asked.cudnn && !cudnn_version().empty()) request.cudnn_algorithms = {"standard"};
  request.passes.assign(ladder_passes.begin(), ladder_passes.end());
  request.products = asked.products;
  request.repetitions = asked.repetitions;
  request.check = asked.check;
  // Plans that measured may have chosen different algorithms, which differ in the last bits.
  request.fingerprint = asked.check && asked.products == rnnopt::product_choice::heuristic;
  return request;
}

product_result product_of(std::string const& precision, int repetitions, cudaStream_t stream) {
  try {
    return {measure_product(precision, repetitions, stream), {}};
  } catch (std::exception const& failure) {
    cudaGetLastError();
    return {{}, failure.what()};
  }
}

int climb(int argc, char** argv) {
  std::vector<rung_description> const rungs = rung_descriptions();
  options const asked = parse_options(argc, argv, known(rungs));
  if (asked.help) {
    std::fputs(usage(known(rungs)).c_str(), stdout);
    return 0;
  }
  if (std::string const no_gpu = no_gpu_reason(); !no_gpu.empty()) {
    std::fprintf(stderr, "rnnopt_ladder: there is no usable GPU: %s\n", no_gpu.c_str());
    return 1;
  }
  shape_request const request = request_of(asked, rungs);
  std::vector<problem_kind> const kinds = problem_kinds();
  report out(conditions(argc, argv, asked.cudnn, asked.products), asked.csv);
  device_stream const stream;
  std::map<std::string, product_result> products;
  for (std::string const& precision : asked.precisions)
    products.emplace(precision, product_of(precision, asked.repetitions, stream));
  for (std::string const& cell : asked.cells)
    for (std::string const& precision : asked.precisions) {
      shape const s{cell, asked.hidden, asked.batch, asked.steps, asked.layers, precision};
      out.add(run_shape(s, request, kinds, stream), products.at(precision));
    }
  if (out.failures() > 0)
    std::fprintf(stderr, "rnnopt_ladder: %d results are missing or wrong, see above\n", out.failures());
  return out.failures() > 0 ? 1 : 0;
}

}  // namespace
}  // namespace bench::ladder

int main(int argc, char** argv) {
  return bench::exit_code_of("rnnopt_ladder", [&] { return bench::ladder::climb(argc, argv); });
}

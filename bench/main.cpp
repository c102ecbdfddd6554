#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <exception>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "cudnn_contender.hpp"
#include "device.hpp"
#include "grid.hpp"
#include "measure.hpp"
#include "options.hpp"
#include "problem.hpp"
#include "report.hpp"
#include "rnnopt/version.hpp"

namespace bench {
namespace {

/// Does something for one row; what it throws is that row's reason.
template <class Work>
std::string reason_of(Work&& work) {
  try {
    work();
    return {};
  } catch (std::exception const& failure) {
    cudaGetLastError();
    return failure.what();
  }
}

std::string dotted(int version, int major_unit, int minor_unit) {
  return std::to_string(version / major_unit) + "." + std::to_string(version % major_unit / minor_unit);
}

/// Everything that a figure has to be quoted with.
std::vector<std::string> conditions(int argc, char** argv, options const& asked) {
  int device = 0, runtime = 0, driver = 0, clock = 0;
  cudaDeviceProp properties{};
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  check_cuda(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  check_cuda(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  check_cuda(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  check_cuda(cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, device), "cudaDeviceGetAttribute");

  std::string driver_text = "CUDA " + dotted(driver, 1000, 10);
  std::ifstream file("/proc/driver/nvidia/version");
  // "NVRM version: NVIDIA ... x86_64  580.95.05  Release Build ...": the version is the word of digits and dots.
  for (std::string word; file >> word;)
    if (word.find('.') != std::string::npos && word.find_first_not_of("0123456789.") == std::string::npos) {
      driver_text = word + ", " + driver_text;
      break;
    }
  std::size_t const cublas = cublasLtGetVersion();

  char date[64];
  std::time_t const now = std::time(nullptr);
  std::strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S UTC", std::gmtime(&now));
  std::string command;
  for (int i = 0; i < argc; ++i) command += (i == 0 ? "" : " ") + std::string(argv[i]);

  return {"rnnopt " + std::to_string(RNNOPT_VERSION_MAJOR) + "." + std::to_string(RNNOPT_VERSION_MINOR) + "." +
              std::to_string(RNNOPT_VERSION_PATCH),
          "device: " + std::string(properties.name) + ", sm_" + std::to_string(properties.major) +
              std::to_string(properties.minor) + ", " + std::to_string(properties.multiProcessorCount) + " SMs, " +
              std::to_string(properties.totalGlobalMem >> 20) + " MiB",
          "driver: " + driver_text,
          "CUDA runtime: " + dotted(runtime, 1000, 10),
          "cuBLASLt: " + std::to_string(cublas / 10000) + "." + std::to_string(cublas / 100 % 100) + "." +
              std::to_string(cublas % 100),
          "cuDNN: " + (cudnn_version().empty()          ? "none, this program was built without it"
                       : asked.cudnn_algorithms.empty() ? cudnn_version() + ", not timed"
                                                        : cudnn_version()),
          "SM clock: " + std::to_string(clock / 1000) + " MHz at most, as the device reports it",
          "products: " + std::string(asked.measured_products ? "measured" : "heuristic"),
          "date: " + std::string(date),
          "command: " + command};
}

std::unique_ptr<problem> make_problem(shape const& s, cudaStream_t stream) {
  std::vector<problem_kind> const kinds = problem_kinds();
  auto const kind = std::find_if(kinds.begin(), kinds.end(),
                                 [&](problem_kind const& k) { return k.cell == s.cell && k.precision == s.precision; });
  if (kind == kinds.end()) throw std::invalid_argument("not compiled in: cell " + s.cell + " in " + s.precision);
  return kind->make(s, stream);
}

shape_result run(shape const& s, options const& asked, cudaStream_t stream) {
  shape_result result{s, {}, {}};
  for (std::string const& name : asked.schedules) result.schedules.push_back({name, {}, {}, {}, {}});
  for (std::string const& name : asked.cudnn_algorithms) result.cudnn.push_back({name, {}, {}});

  std::unique_ptr<problem> data;
  std::string const no_data = reason_of([&] { data = make_problem(s, stream); });
  std::vector<std::unique_ptr<library_contender>> ours(result.schedules.size());
  std::vector<std::unique_ptr<contender>> cudnn(result.cudnn.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    std::string& reason = result.schedules[i].reason;
    reason = no_data;
    if (data != nullptr)
      reason = reason_of([&] { ours[i] = data->plan(result.schedules[i].schedule, asked.measured_products); });
  }
  for (std::size_t i = 0; i < cudnn.size(); ++i)
    result.cudnn[i].reason = reason_of([&] { cudnn[i] = make_cudnn_contender(s, result.cudnn[i].algorithm, stream); });

  struct entry {
    contender* runner;
    timings* times;
    std::string* reason;
  };
  std::vector<entry> entries;
  for (std::size_t i = 0; i < ours.size(); ++i)
    entries.push_back({ours[i].get(), &result.schedules[i].times, &result.schedules[i].reason});
  for (std::size_t i = 0; i < cudnn.size(); ++i)
    entries.push_back({cudnn[i].get(), &result.cudnn[i].times, &result.cudnn[i].reason});
  entries.erase(std::remove_if(entries.begin(), entries.end(), [](entry const& e) { return e.runner == nullptr; }),
                entries.end());
  std::string const no_times = reason_of([&] {
    std::vector<contender*> contenders;
    for (entry const& e : entries) contenders.push_back(e.runner);
    std::vector<timings> const measured = measure(contenders, asked.repetitions, stream);
    for (std::size_t i = 0; i < entries.size(); ++i) *entries[i].times = measured[i];
  });
  if (!no_times.empty())
    for (entry const& e : entries) *e.reason = no_times;

  cudnn.clear();
  if (asked.check)
    for (std::size_t i = 0; i < ours.size(); ++i)
      if (ours[i] != nullptr)
        result.schedules[i].check_reason = reason_of([&] { result.schedules[i].errors = ours[i]->errors(stream); });
  return result;
}

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

  int devices = 0;
  if (cudaError_t const found = cudaGetDeviceCount(&devices); found != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "rnnopt_bench: there is no usable GPU: %s\n",
                 found != cudaSuccess ? cudaGetErrorString(found) : "no device is visible");
    return 1;
  }
  report out(conditions(argc, argv, asked), asked.csv, !asked.cudnn_algorithms.empty());
  device_stream const stream;
  for (shape const& s : shapes) out.add(run(s, asked, stream));
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
  try {
    return bench::run_all(argc, argv);
  } catch (std::invalid_argument const& bad) {
    std::fprintf(stderr, "rnnopt_bench: %s\n", bad.what());
    return 2;
  } catch (std::exception const& failure) {
    std::fprintf(stderr, "rnnopt_bench: %s\n", failure.what());
    return 1;
  }
}

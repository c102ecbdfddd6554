#include <getopt.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "command_line.hpp"
#include "rnnopt/cells/lstm.hpp"
#include "rnnopt/device/step_plan.cuh"
#include "stopwatch.hpp"

/// Times every kernel of an LSTM's fused step in every way that a plan may launch it, and how long it takes to read R
/// from memory: what a step cannot be faster than where R does not stay in L2.

namespace {

using namespace rnnopt::detail;

struct options {
  int hidden = 512, batch = 64, lanes = 1;
  std::string precision = "fp16";
  bool help = false;
};

char const usage[] =
    "usage: rnnopt_step_kernels [options]\n"
    "Times the kernels of an LSTM's fused step, captured, recurrence alone, and the time to read R from memory.\n\n"
    "  --hidden N             hidden units (512)\n"
    "  --batch N              rows of the batch (64)\n"
    "  --lanes N              so many at once (1)\n"
    "  --precision NAME       fp32, tf32, fp16 or bf16 (fp16)\n"
    "  --help                 print this\n";

options parse(int argc, char** argv) {
  enum { hidden = 1, batch, lanes, precision, help };
  option const table[] = {
      {"hidden", required_argument, nullptr, hidden}, {"batch", required_argument, nullptr, batch},
      {"lanes", required_argument, nullptr, lanes},   {"precision", required_argument, nullptr, precision},
      {"help", no_argument, nullptr, help},           {nullptr, 0, nullptr, 0}};
  options result;
  opterr = 0;
  for (int c; (c = getopt_long(argc, argv, ":", table, nullptr)) != -1;) switch (c) {
      case hidden:
        result.hidden = bench::positive_integer(optarg, "--hidden");
        break;
      case batch:
        result.batch = bench::positive_integer(optarg, "--batch");
        break;
      case lanes:
        result.lanes = bench::positive_integer(optarg, "--lanes");
        break;
      case precision:
        result.precision = optarg;
        break;
      case help:
        result.help = true;
        break;
      default:
        bench::refuse_option(c, argv[optind - 1]);
    }
  if (optind < argc) bench::refuse_argument(argv[optind]);
  return result;
}

__global__ void read_all(uint4 const* from, std::int64_t count, unsigned* never) {
  unsigned sum = 0;
  std::int64_t const apart = std::int64_t(gridDim.x) * blockDim.x;
  for (std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += 4 * apart)
#pragma unroll
    for (int j = 0; j < 4; ++j)
      if (i + j * apart < count) {
        uint4 const value = from[i + j * apart];
        sum ^= value.x ^ value.y ^ value.z ^ value.w;
      }
  if (sum == 0x9e3779b9) *never = sum;  // so that the reads are not left out
}

/// Median microseconds to read `bytes` that are in no cache: of several copies in turn, 512 MiB of them.
double time_to_read(std::size_t bytes) {
  char const* const where = "reading memory";
  std::size_t const copies = std::max<std::size_t>(2, (std::size_t(512) << 20) / bytes);
  owned_memory const memory = allocate(copies * bytes + 16, where);
  owned_stream const stream = make_stream(where);
  require_success(cudaMemsetAsync(memory.get(), 1, copies * bytes + 16, stream.get()), where);
  bench::stopwatch watch;
  std::vector<double> samples;
  for (int repetition = 0; repetition < 9; ++repetition)
    samples.push_back(watch.time(stream.get(), [&] {
      for (std::size_t i = 0; i < copies; ++i) {
        auto const* const from =
            reinterpret_cast<uint4 const*>(static_cast<std::byte const*>(memory.get()) + i * bytes);
        auto* const never = reinterpret_cast<unsigned*>(static_cast<std::byte*>(memory.get()) + copies * bytes);
        read_all<<<132 * 8, 512, 0, stream.get()>>>(from, std::int64_t(bytes / 16), never);
      }
    }) / double(copies));
  require_success(cudaGetLastError(), where);
  return bench::median_of(samples);
}

template <class Time, class Arguments>
void report(char const* pass, std::vector<step_variant<Arguments>> const& variants, options const& o,
            Time const& time) {
  struct row {
    double microseconds;
    std::string text;
  };
  std::vector<row> rows;
  for (auto const& v : variants) {
    if (!allow_shared_memory(v)) continue;
    for (int cluster = 1; cluster <= 8; cluster *= 2)
      for (int const stages : std::vector<int>{std::max(2, 2 * v.stages / 3), v.stages}) {
        step_launch<Arguments> l{};
        l.variant = v;
        l.cluster = cluster;
        l.stages = stages;
        rows.push_back({time(l), std::to_string(v.rows) + " x " + std::to_string(l.columns()) + ", cluster of " +
                                     std::to_string(cluster) + ", " + std::to_string(stages) + " stages, " +
                                     std::to_string(l.blocks(o.batch, o.hidden)) + " blocks"});
      }
  }
  std::sort(rows.begin(), rows.end(), [](row const& a, row const& b) { return a.microseconds < b.microseconds; });
  std::printf("%s: microseconds a step, rows x columns of a tile\n", pass);
  for (row const& r : rows) std::printf("  %8.2f  %s\n", r.microseconds, r.text.c_str());
}

template <class Precision>
void run(options const& o) {
  using cell = rnnopt::lstm;
  using storage = typename Precision::storage;
  if (!has_dependent_launch()) throw std::runtime_error("fused steps need compute capability 9.0, compiled for it");
  if (o.hidden * int(sizeof(storage)) % 16 != 0)
    throw std::invalid_argument("--hidden: rows need multiples of 16 bytes");
  rnnopt::extents e;
  e.batch = o.batch;
  e.hidden = e.input = o.hidden;
  e.steps = step_rehearsal<cell, Precision>::steps;
  step_rehearsal<cell, Precision> const rehearsal(e, o.lanes);
  std::size_t const bytes = 4 * std::size_t(o.hidden) * std::size_t(o.hidden) * sizeof(storage);
  std::printf("lstm, %s, hidden %d, batch %d, %d at once; R is %.1f MB, read from memory in %.2f us\n",
              o.precision.c_str(), o.hidden, o.batch, o.lanes, double(bytes) / 1e6, time_to_read(bytes));
  double const to_step = 1e3 / double(e.steps);
  report("forward for training", step_kernels<cell, Precision>::forward(), o,
         [&](auto const& l) { return to_step * rehearsal.forward(l); });
  report("backward data", step_kernels<cell, Precision>::backward(), o,
         [&](auto const& l) { return to_step * rehearsal.backward(l); });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::exit_code_of("rnnopt_step_kernels", [&] {
    options const o = parse(argc, argv);
    if (o.help) std::fputs(usage, stdout);
    else if (o.precision == "fp32") run<rnnopt::fp32>(o);
    else if (o.precision == "tf32") run<rnnopt::tf32>(o);
    else if (o.precision == "fp16") run<rnnopt::fp16>(o);
    else if (o.precision == "bf16") run<rnnopt::bf16>(o);
    else throw std::invalid_argument("--precision is '" + o.precision + "', needs fp32, tf32, fp16 or bf16");
    return 0;
  });
}

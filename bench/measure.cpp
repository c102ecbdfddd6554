#include "measure.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "device.hpp"
#include "stopwatch.hpp"

namespace bench {
namespace {

constexpr int runs_per_turn = 5;
constexpr int fewest_repetitions = 5;
constexpr double time_per_timing = 100e3;  // microseconds

/// A captured pass.
class captured_pass {
 public:
  captured_pass(contender& c, timed_pass pass, cudaStream_t stream) {
    check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture");
    cudaGraph_t graph = nullptr;
    try {
      c.enqueue(pass, stream);
    } catch (...) {
      cudaStreamEndCapture(stream, &graph);
      if (graph != nullptr) cudaGraphDestroy(graph);
      throw;
    }
    check_cuda(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
    cudaError_t const status = cudaGraphInstantiate(&executable_, graph, 0);
    cudaGraphDestroy(graph);
    check_cuda(status, "cudaGraphInstantiate");
  }
  captured_pass(captured_pass&& other) noexcept : executable_(std::exchange(other.executable_, nullptr)) {}
  captured_pass& operator=(captured_pass&&) = delete;
  ~captured_pass() {
    if (executable_ != nullptr) cudaGraphExecDestroy(executable_);
  }

  void launch(cudaStream_t stream) { check_cuda(cudaGraphLaunch(executable_, stream), "cudaGraphLaunch"); }

 private:
  cudaGraphExec_t executable_ = nullptr;
};

/// One pass of one contender in one mode, with the times taken so far.
struct candidate {
  contender* runner;
  timed_pass pass;
  launch_mode mode;
  timing* result;
  std::vector<captured_pass> graph;  // empty or one
  std::vector<double> samples;
  int wanted = 0;  // more samples to take

  void run(cudaStream_t stream) {
    if (mode == launch_mode::graph) graph.front().launch(stream);
    else runner->enqueue(pass, stream);
  }

  void prepare(int repetitions, stopwatch& watch, cudaStream_t stream) {
    if (mode == launch_mode::graph) graph.emplace_back(*runner, pass, stream);
    run(stream);
    double const estimate = watch.time(stream, [&] { run(stream); });
    int const affordable = static_cast<int>(std::min(time_per_timing / std::max(estimate, 1.0), 1e6));
    wanted = std::min(repetitions, std::max(affordable, fewest_repetitions));
  }

  void take_turn(stopwatch& watch, cudaStream_t stream) {
    run(stream);
    for (int i = 0; i < runs_per_turn && wanted > 0; ++i, --wanted)
      samples.push_back(watch.time(stream, [&] { run(stream); }));
    if (wanted > 0) return;
    result->microseconds = median_of(samples);
    result->repetitions = static_cast<int>(samples.size());
  }

  /// Does a part of the work; a failure ends this candidate alone.
  template <class Work>
  void attempt(Work&& work) {
    try {
      work();
    } catch (std::exception const& failure) {
      cudaGetLastError();
      result->reason = failure.what();
      wanted = 0;
    }
  }
};

/// The pass whose results this one reads.
bool runs_after(timed_pass pass, timings const& so_far) {
  auto const ran = [&](timed_pass before) {
    return so_far.at(before, launch_mode::stream).ran() || so_far.at(before, launch_mode::graph).ran();
  };
  if (pass == timed_pass::backward_data) return ran(timed_pass::forward_training);
  if (pass == timed_pass::weight_gradient) return ran(timed_pass::backward_data);
  return true;
}

}  // namespace

std::vector<timings> measure(std::vector<contender*> const& contenders, std::vector<timed_pass> const& passes,
                             int repetitions, cudaStream_t stream) {
  std::vector<timings> results(contenders.size());
  stopwatch watch;
  for (timed_pass const pass : passes) {
    std::vector<candidate> candidates;
    for (std::size_t i = 0; i < contenders.size(); ++i)
      for (launch_mode const mode : launch_modes) {
        timing& result = results[i].at(pass, mode);
        if (!runs_after(pass, results[i])) {
          result.reason = "the pass before it did not run";
          continue;
        }
        candidates.push_back({contenders[i], pass, mode, &result, {}, {}, 0});
        candidate& added = candidates.back();
        added.attempt([&] { added.prepare(repetitions, watch, stream); });
      }
    for (bool more = true; more;) {
      more = false;
      for (candidate& c : candidates) {
        if (c.wanted == 0) continue;
        c.attempt([&] { c.take_turn(watch, stream); });
        more = more || c.wanted > 0;
      }
    }
  }
  return results;
}

}  // namespace bench

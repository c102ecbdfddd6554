#pragma once

#include <vector>

#include "rnnopt/device/handles.cuh"

/// Times candidates while a plan is made: each as a captured chain, as it will run.

namespace rnnopt::detail {

/// Runs chains of kernels on as many streams at once as there are lanes.
class chain_timer {
 public:
  explicit chain_timer(int lanes) {
    for (int lane = 0; lane < lanes; ++lane) {
      streams_.push_back(make_stream(where));
      joined_.push_back(make_event(cudaEventDisableTiming, where));
    }
  }
  int lanes() const { return int(streams_.size()); }
  /// The stream on which to prepare memory before the first time().
  cudaStream_t stream() const { return streams_[0].get(); }

  /// Least milliseconds of a chain on every lane, or -1 if it cannot be captured. `enqueue(stream, lane)` puts the
  /// chain of a lane on a stream and returns whether it could.
  template <class Enqueue>
  float time(Enqueue const& enqueue) const {
    require_success(cudaStreamBeginCapture(stream(), cudaStreamCaptureModeThreadLocal), where);
    require_success(cudaEventRecord(forked_.get(), stream()), where);
    bool done = true;
    for (int lane = 0; lane < lanes(); ++lane) {
      cudaStream_t const s = streams_[std::size_t(lane)].get();
      if (lane > 0) require_success(cudaStreamWaitEvent(s, forked_.get(), 0), where);
      done = done && enqueue(s, lane);
      if (lane == 0) continue;
      require_success(cudaEventRecord(joined_[std::size_t(lane)].get(), s), where);
      require_success(cudaStreamWaitEvent(stream(), joined_[std::size_t(lane)].get(), 0), where);
    }
    cudaGraph_t captured = nullptr;
    cudaError_t const ended = cudaStreamEndCapture(stream(), &captured);
    owned_graph const graph(captured);
    if (!done) {
      cudaGetLastError();
      return -1;
    }
    require_success(ended, where);
    cudaGraphExec_t instantiated = nullptr;
    require_success(cudaGraphInstantiate(&instantiated, captured, 0), where);
    owned_graph_exec const exec(instantiated);
    float least = -1;
    for (int repetition = 0; repetition < 4; ++repetition) {
      require_success(cudaEventRecord(start_.get(), stream()), where);
      require_success(cudaGraphLaunch(instantiated, stream()), where);
      require_success(cudaEventRecord(stop_.get(), stream()), where);
      require_success(cudaEventSynchronize(stop_.get()), where);
      float now = 0;
      require_success(cudaEventElapsedTime(&now, start_.get(), stop_.get()), where);
      if (repetition > 0 && (least < 0 || now < least)) least = now;
    }
    return least;
  }

 private:
  static constexpr char const* where = "timing candidates";
  std::vector<owned_stream> streams_;
  std::vector<owned_event> joined_;
  owned_event forked_ = make_event(cudaEventDisableTiming, where);
  owned_event start_ = make_event(cudaEventDefault, where);
  owned_event stop_ = make_event(cudaEventDefault, where);
};

}  // namespace rnnopt::detail

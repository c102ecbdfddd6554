#pragma once

#include <algorithm>
#include <vector>

#include "rnnopt/device/dependent_launch.cuh"
#include "rnnopt/device/handles.cuh"

namespace rnnopt::detail {

/// The streams and events behind a schedule's lanes; lane 0 is whatever stream the caller gives.
class lane_set {
 public:
  /// @param priority  priority(lane), larger goes first; brought into the range that the device has
  template <class Priority>
  lane_set(int lanes, int events, Priority const& priority) {
    char const* const where = "creating lanes";
    // CUDA's priorities fall: the greatest is the lowest number, the usual one 0.
    int least = 0, greatest = 0;
    require_success(cudaDeviceGetStreamPriorityRange(&least, &greatest), where);
    for (int lane = 1; lane < lanes; ++lane) {
      side_.push_back(make_stream(where, -(std::clamp)(priority(lane), -least, -greatest)));
      joined_.push_back(make_event(cudaEventDisableTiming, where));
    }
    if (lanes > 1) forked_ = make_event(cudaEventDisableTiming, where);
    for (int event = 0; event < events; ++event) events_.push_back(make_event(cudaEventDisableTiming, where));
    launch_early_ = has_dependent_launch();
  }

  /// Whether the device can begin a kernel before the one before it has ended.
  bool launch_early() const { return launch_early_; }

  cudaStream_t stream(cudaStream_t caller, int lane) const {
    return lane == 0 ? caller : side_[std::size_t(lane - 1)].get();
  }
  /// Side lanes start after what the caller's stream holds.
  void fork(cudaStream_t caller) const {
    if (side_.empty()) return;
    require_success(cudaEventRecord(forked_.get(), caller), "forking lanes");
    for (auto const& stream : side_)
      require_success(cudaStreamWaitEvent(stream.get(), forked_.get(), 0), "forking lanes");
  }
  /// The caller's stream goes on after all side lanes.
  void join(cudaStream_t caller) const {
    for (std::size_t i = 0; i < side_.size(); ++i) {
      require_success(cudaEventRecord(joined_[i].get(), side_[i].get()), "joining lanes");
      require_success(cudaStreamWaitEvent(caller, joined_[i].get(), 0), "joining lanes");
    }
  }
  /// join() for when an exception is on its way: whatever was enqueued is waited for, and a capture can end.
  void join_quietly(cudaStream_t caller) const noexcept {
    for (std::size_t i = 0; i < side_.size(); ++i) {
      cudaEventRecord(joined_[i].get(), side_[i].get());
      cudaStreamWaitEvent(caller, joined_[i].get(), 0);
    }
    cudaGetLastError();
  }
  void signal(cudaStream_t caller, int lane, int event) const {
    require_success(cudaEventRecord(events_[std::size_t(event)].get(), stream(caller, lane)),
                    "signalling between lanes");
  }
  void wait(cudaStream_t caller, int lane, int event) const {
    require_success(cudaStreamWaitEvent(stream(caller, lane), events_[std::size_t(event)].get(), 0),
                    "waiting between lanes");
  }

 private:
  std::vector<owned_stream> side_;
  owned_event forked_;
  std::vector<owned_event> joined_;
  std::vector<owned_event> events_;
  bool launch_early_ = false;
};

}  // namespace rnnopt::detail

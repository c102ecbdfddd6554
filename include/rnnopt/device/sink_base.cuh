#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "rnnopt/device/lanes.cuh"
#include "rnnopt/device/product.cuh"
#include "rnnopt/schedule.hpp"
#include "rnnopt/workspace.hpp"

namespace rnnopt::detail {

/// Refuses an operation whose kernels are compiled only for schedules with a constant that says so.
[[noreturn]] inline void fail_unannounced(char const* operation, char const* declaration) {
  fail(errc::schedule_inconsistent, "rnn", std::string("the schedule emits ") + operation + " without announcing it",
       std::string("write static constexpr ") + declaration + " into the schedule");
}

/// What the sinks that enqueue on streams share: lanes and the scratch of each lane's products.
class cuda_sink_base {
 public:
  cuda_sink_base(cudaStream_t stream, lane_set const& lanes, std::byte* workspace, std::int64_t product_scratch)
      : stream_(stream), lanes_(lanes), scratch_(aligned(workspace + product_scratch)) {}

  void signal(int lane, int event) {
    latest_ = {};
    product_lane_ = -1;
    lanes_.signal(stream_, lane, event);
  }
  void wait(int lane, int event) {
    latest_ = {};
    product_lane_ = -1;
    lanes_.wait(stream_, lane, event);
  }

 protected:
  cudaStream_t stream() const { return stream_; }
  /// The lane's stream, to enqueue an operation that is no fused step.
  cudaStream_t stream(int lane) {
    latest_ = {};
    product_lane_ = -1;
    return lanes_.stream(stream_, lane);
  }
  /// Says that what was enqueued last is a product.
  void enqueued_product(int lane) { product_lane_ = lane; }
  /// Whether a kernel that waits before it reads anything may begin early: right after a product of its lane.
  bool may_begin_early(int lane) const { return product_lane_ == lane && lanes_.launch_early(); }
  /// Where a fused step is enqueued, and whether its kernel may begin while the one before runs.
  struct step_place {
    cudaStream_t stream;
    bool follows_step;
  };
  /// It may if nothing has been enqueued since the step `before` of the same line, by the same kernel on the same lane:
  /// what it reads before it waits has to be written before the first of the run began. Work on other lanes in between
  /// forbids it too, which costs nothing as long as schedules emit their steps in runs.
  step_place place_step(int lane, line const& l, std::int64_t step, std::int64_t before) {
    bool const follows = latest_.lane == lane && latest_.at.layer == l.layer && latest_.at.direction == l.direction &&
                         latest_.step == before;
    latest_ = {lane, l, step};
    product_lane_ = -1;
    return {lanes_.stream(stream_, lane), follows};
  }
  void* scratch(int lane) const { return scratch_ + lane * std::int64_t(product_scratch_bytes); }
  lane_set const& lanes() const { return lanes_; }

 private:
  /// The fused step that was enqueued last, if nothing has been enqueued since.
  struct fused_step {
    int lane = -1;
    line at;
    std::int64_t step = -1;
  };

  static std::byte* aligned(std::byte* pointer) {
    auto const past = reinterpret_cast<std::uintptr_t>(pointer) % product_scratch_alignment;
    return past == 0 ? pointer : pointer + (product_scratch_alignment - past);
  }

  cudaStream_t stream_;
  lane_set const& lanes_;
  std::byte* scratch_;
  fused_step latest_;
  int product_lane_ = -1;  ///< lane of the product that was enqueued last, if nothing has been enqueued since
};

}  // namespace rnnopt::detail

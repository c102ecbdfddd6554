#pragma once

#include <cstddef>
#include <cstdint>

#include "rnnopt/device/lanes.cuh"
#include "rnnopt/device/product.cuh"
#include "rnnopt/workspace.hpp"

namespace rnnopt::detail {

/// What the sinks that enqueue on streams share: lanes and the scratch of each lane's products.
class cuda_sink_base {
 public:
  cuda_sink_base(cudaStream_t stream, lane_set const& lanes, std::byte* workspace, std::int64_t product_scratch)
      : stream_(stream), lanes_(lanes), scratch_(aligned(workspace + product_scratch)) {}

  void signal(int lane, int event) { lanes_.signal(stream_, lane, event); }
  void wait(int lane, int event) { lanes_.wait(stream_, lane, event); }

 protected:
  cudaStream_t stream() const { return stream_; }
  cudaStream_t stream(int lane) const { return lanes_.stream(stream_, lane); }
  void* scratch(int lane) const { return scratch_ + lane * std::int64_t(product_scratch_bytes); }
  lane_set const& lanes() const { return lanes_; }

 private:
  static std::byte* aligned(std::byte* pointer) {
    auto const past = reinterpret_cast<std::uintptr_t>(pointer) % product_scratch_alignment;
    return past == 0 ? pointer : pointer + (product_scratch_alignment - past);
  }

  cudaStream_t stream_;
  lane_set const& lanes_;
  std::byte* scratch_;
};

}  // namespace rnnopt::detail

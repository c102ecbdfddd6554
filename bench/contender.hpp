#pragma once

#include <array>

#include <cuda_runtime_api.h>

namespace bench {

/// What is timed, in the order in which one run follows another.
enum class timed_pass { forward_inference, forward_training, backward_data, weight_gradient };

inline constexpr std::array<timed_pass, 4> timed_passes{timed_pass::forward_inference, timed_pass::forward_training,
                                                        timed_pass::backward_data, timed_pass::weight_gradient};

inline constexpr char const* name_of(timed_pass pass) {
  constexpr char const* names[] = {"forward_inference", "forward_training", "backward_data", "weight_gradient"};
  return names[static_cast<int>(pass)];
}

/// How work gets to the GPU: enqueued call by call, or captured once into a CUDA graph that is launched.
enum class launch_mode { stream, graph };

inline constexpr std::array<launch_mode, 2> launch_modes{launch_mode::stream, launch_mode::graph};

inline constexpr char const* name_of(launch_mode mode) { return mode == launch_mode::stream ? "stream" : "graph"; }

/// One implementation of one shape, with buffers of its own, ready to run.
class contender {
 public:
  virtual ~contender() = default;

  /// Enqueues a pass, capturable; throws where the implementation refuses. Backward data needs an earlier training
  /// forward, the weight gradient an earlier backward data.
  virtual void enqueue(timed_pass pass, cudaStream_t stream) = 0;
};

}  // namespace bench

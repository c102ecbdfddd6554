#pragma once

#include <algorithm>
#include <vector>

#include <cuda_runtime_api.h>

#include "device.hpp"

namespace bench {

class stopwatch {
 public:
  stopwatch() {
    check_cuda(cudaEventCreate(&begin_), "cudaEventCreate");
    check_cuda(cudaEventCreate(&end_), "cudaEventCreate");
  }
  stopwatch(stopwatch const&) = delete;
  stopwatch& operator=(stopwatch const&) = delete;
  ~stopwatch() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }

  /// Microseconds of the device between before and after what `enqueue` puts on the stream.
  template <class Enqueue>
  double time(cudaStream_t stream, Enqueue&& enqueue) {
    check_cuda(cudaEventRecord(begin_, stream), "cudaEventRecord");
    enqueue();
    check_cuda(cudaEventRecord(end_, stream), "cudaEventRecord");
    check_cuda(cudaEventSynchronize(end_), "cudaEventSynchronize");
    float milliseconds = 0;
    check_cuda(cudaEventElapsedTime(&milliseconds, begin_, end_), "cudaEventElapsedTime");
    return 1e3 * milliseconds;
  }

 private:
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

/// Of one sample at least.
inline double median_of(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return (samples[(samples.size() - 1) / 2] + samples[samples.size() / 2]) / 2;
}

}  // namespace bench

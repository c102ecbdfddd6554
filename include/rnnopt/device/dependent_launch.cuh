#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "rnnopt/device/cuda_error.cuh"

/// Kernels that begin while the one before them still runs (programmatic dependent launch, compute capability 9.0): the
/// price of a launch, and whatever does not depend on that kernel, is then paid beside it.

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define RNNOPT_DEVICE_90 1
#else
#define RNNOPT_DEVICE_90 0
#endif
// Instructions that exist in code for sm_90a alone.
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define RNNOPT_DEVICE_90A 1
#else
#define RNNOPT_DEVICE_90A 0
#endif

namespace rnnopt::detail {

/// Waits until the kernels that this one was launched after have ended and their results can be read; does nothing for
/// an ordinary launch. A kernel that may begin early has to call it, in every thread that reads or writes.
__device__ inline void wait_for_previous_kernels() {
#if RNNOPT_DEVICE_90
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
/// The next kernel may begin; without it that happens when this one ends.
__device__ inline void let_next_kernel_begin() {
#if RNNOPT_DEVICE_90
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Asked for what it was compiled for.
template <class>
__global__ void dependent_launch_probe() {}

/// Whether kernels can begin early, and the other instructions of compute capability 9.0 are there: on this device, and
/// in this program, since code for an earlier one that the driver has translated does without.
inline bool has_dependent_launch() {
  char const* const where = "asking for compute capability 9.0";
  int device = 0, major = 0;
  require_success(cudaGetDevice(&device), where);
  require_success(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), where);
  cudaFuncAttributes attributes{};
  require_success(cudaFuncGetAttributes(&attributes, reinterpret_cast<void const*>(dependent_launch_probe<void>)),
                  where);
  return major >= 9 && attributes.ptxVersion >= 90;
}

/// Grid, block, dynamic shared memory and cluster of a launch, and whether it may begin early.
struct launch_shape {
  dim3 grid;
  dim3 block;
  int shared_bytes = 0;
  int cluster = 1;
  bool early = false;
};

/// What CUDA wants to know of a launch. Not to be copied: `config` points into it.
struct launch_description {
  cudaLaunchAttribute attributes[2];
  cudaLaunchConfig_t config{};

  launch_description(cudaStream_t stream, launch_shape const& shape) {
    config.gridDim = shape.grid;
    config.blockDim = shape.block;
    config.dynamicSmemBytes = std::size_t(shape.shared_bytes);
    config.stream = stream;
    config.attrs = attributes;
    if (shape.early) {
      attributes[config.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
      attributes[config.numAttrs++].val.programmaticStreamSerializationAllowed = 1;
    }
    if (shape.cluster > 1) {
      attributes[config.numAttrs].id = cudaLaunchAttributeClusterDimension;
      attributes[config.numAttrs].val.clusterDim.x = unsigned(shape.cluster);
      attributes[config.numAttrs].val.clusterDim.y = 1;
      attributes[config.numAttrs++].val.clusterDim.z = 1;
    }
  }
  launch_description(launch_description const&) = delete;
  launch_description& operator=(launch_description const&) = delete;
};

template <class Arguments>
void launch_kernel(cudaStream_t stream, void (*kernel)(Arguments), launch_shape const& shape,
                   Arguments const& arguments, char const* where) {
  launch_description const description(stream, shape);
  require_success(cudaLaunchKernelEx(&description.config, kernel, arguments), where);
}

/// How many clusters of a launch the device can run at once, or blocks one processor where there is no cluster; 0: it
/// cannot be launched.
template <class Arguments>
int resident_clusters(void (*kernel)(Arguments), launch_shape const& shape, char const* where) {
  launch_description const description(nullptr, shape);
  int clusters = 0;
  if (shape.cluster == 1) {
    require_success(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&clusters, kernel, int(shape.block.x),
                                                                  std::size_t(shape.shared_bytes)),
                    where);
    return clusters;
  }
  cudaError_t const asked = cudaOccupancyMaxActiveClusters(&clusters, kernel, &description.config);
  if (asked == cudaErrorInvalidClusterSize) {  // a size that this device does not know
    cudaGetLastError();
    return 0;
  }
  require_success(asked, where);
  return clusters;
}

}  // namespace rnnopt::detail

#pragma once

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <memory>
#include <type_traits>

#include "rnnopt/device/cuda_error.cuh"

/// Owners of CUDA objects.

namespace rnnopt::detail {

/// unique_ptr over a CUDA handle (all of them are pointers) and the function that destroys it.
template <class Handle, auto Destroy>
struct handle_deleter {
  void operator()(Handle handle) const { Destroy(handle); }
};
template <class Handle, auto Destroy>
using owned = std::unique_ptr<std::remove_pointer_t<Handle>, handle_deleter<Handle, Destroy>>;

using owned_stream = owned<cudaStream_t, cudaStreamDestroy>;
using owned_event = owned<cudaEvent_t, cudaEventDestroy>;
using owned_graph = owned<cudaGraph_t, cudaGraphDestroy>;
using owned_graph_exec = owned<cudaGraphExec_t, cudaGraphExecDestroy>;
using owned_cublas = owned<cublasLtHandle_t, cublasLtDestroy>;
using owned_product_descriptor = owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using owned_matrix_layout = owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
using owned_product_preference = owned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

struct device_free {
  void operator()(void* pointer) const { cudaFree(pointer); }
};
/// Device memory that a plan needs for itself while it measures.
using owned_memory = std::unique_ptr<void, device_free>;

inline owned_memory allocate(std::size_t bytes, char const* where) {
  void* pointer = nullptr;
  require_success(cudaMalloc(&pointer, bytes), where);
  return owned_memory(pointer);
}
inline owned_stream make_stream(char const* where, int priority = 0) {
  cudaStream_t stream = nullptr;
  require_success(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, priority), where);
  return owned_stream(stream);
}
inline owned_event make_event(unsigned flags, char const* where) {
  cudaEvent_t event = nullptr;
  require_success(cudaEventCreateWithFlags(&event, flags), where);
  return owned_event(event);
}
inline owned_cublas make_cublas(char const* where) {
  cublasLtHandle_t handle = nullptr;
  require_success(cublasLtCreate(&handle), where);
  return owned_cublas(handle);
}

}  // namespace rnnopt::detail

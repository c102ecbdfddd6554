#pragma once

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

namespace rnnopt {

/// @brief A CUDA call failed.
class cuda_error : public std::runtime_error {
 public:
  cuda_error(cudaError_t code, std::string const& where)
      : std::runtime_error("rnnopt: " + where + ": " + cudaGetErrorName(code) + ", " + cudaGetErrorString(code)),
        code_(code) {}

  /// @brief What CUDA returned.
  cudaError_t code() const noexcept { return code_; }

 private:
  cudaError_t code_;
};

/// @brief A cuBLASLt call failed.
class cublas_error : public std::runtime_error {
 public:
  cublas_error(cublasStatus_t code, std::string const& where)
      : std::runtime_error("rnnopt: " + where + ": " + cublasLtGetStatusName(code) + ", " +
                           cublasLtGetStatusString(code)),
        code_(code) {}

  /// @brief What cuBLASLt returned.
  cublasStatus_t code() const noexcept { return code_; }

 private:
  cublasStatus_t code_;
};

namespace detail {

inline void require_success(cudaError_t code, char const* where) {
  if (code == cudaSuccess) return;
  cudaGetLastError();  // so that the context is clean for whoever catches this
  throw cuda_error(code, where);
}
inline void require_success(cublasStatus_t code, char const* where) {
  if (code != CUBLAS_STATUS_SUCCESS) throw cublas_error(code, where);
}

}  // namespace detail
}  // namespace rnnopt

#pragma once

#include <cstdint>

#include "rnnopt/device/cuda_error.cuh"

/// Moves the states of all lines between the caller's buffers and the slots of the executor, converting on the way.

namespace rnnopt::detail {

template <class To, class From, class Sum>
struct copy_arguments {
  To* to;             ///< planes to_stride elements apart
  From const* from;   ///< planes from_stride elements apart; null: zeros
  From const* added;  ///< planes added_stride elements apart, added to `from`; null: none
  std::int64_t to_stride, from_stride, added_stride;
  std::int64_t plane;  ///< elements of a plane
  std::int64_t count;  ///< planes * plane
};

template <class To, class From, class Sum>
__global__ void __launch_bounds__(256) copy_kernel(copy_arguments<To, From, Sum> const a) {
  std::int64_t const i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= a.count) return;
  std::int64_t const index = i / a.plane, at = i % a.plane;
  Sum value = a.from != nullptr ? static_cast<Sum>(a.from[index * a.from_stride + at]) : Sum(0);
  if (a.added != nullptr) value += static_cast<Sum>(a.added[index * a.added_stride + at]);
  a.to[index * a.to_stride + at] = static_cast<To>(value);
}

template <class To, class From, class Sum>
void launch_copy(cudaStream_t stream, copy_arguments<To, From, Sum> const& a) {
  if (a.count == 0) return;
  copy_kernel<To, From, Sum><<<unsigned((a.count + 255) / 256), 256, 0, stream>>>(a);
  require_success(cudaGetLastError(), "launching copy");
}

}  // namespace rnnopt::detail

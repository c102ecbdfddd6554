#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include <cuda_runtime_api.h>

namespace bench {

/// Throws what went wrong in one line and leaves no error behind in the runtime.
inline void check_cuda(cudaError_t status, char const* call) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(status));
}

/// Device memory; 256-byte aligned.
class device_memory {
 public:
  device_memory() = default;
  explicit device_memory(std::size_t bytes) : bytes_(bytes) {
    if (bytes > 0) check_cuda(cudaMalloc(&data_, bytes), "cudaMalloc");
  }
  device_memory(device_memory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  device_memory& operator=(device_memory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~device_memory() { cudaFree(data_); }

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Device memory for a number of elements.
template <class T>
class device_array {
 public:
  device_array() = default;
  explicit device_array(std::int64_t count) : memory_(bytes_of(count)), count_(count) {}

  T* data() const { return static_cast<T*>(memory_.data()); }
  std::int64_t size() const { return count_; }
  std::size_t bytes() const { return memory_.bytes(); }

 private:
  static std::size_t bytes_of(std::int64_t count) {
    std::size_t bytes = 0;
    if (count < 0 || __builtin_mul_overflow(static_cast<std::size_t>(count), sizeof(T), &bytes)) throw std::bad_alloc();
    return bytes;
  }

  device_memory memory_;
  std::int64_t count_ = 0;
};

/// A stream that does not wait for the default stream.
class device_stream {
 public:
  device_stream() { check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate"); }
  device_stream(device_stream const&) = delete;
  device_stream& operator=(device_stream const&) = delete;
  ~device_stream() { cudaStreamDestroy(stream_); }

  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace bench

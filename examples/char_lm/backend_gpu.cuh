#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "backend_cpu.hpp"
#include "error.hpp"
#include "rnnopt/device/product.cuh"
#include "rnnopt/rnn.cuh"

namespace char_lm {

namespace kernels {

template <class F>
__global__ void for_each(std::int64_t count, F f) {
  std::int64_t const threads = std::int64_t(gridDim.x) * blockDim.x;
  for (std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += threads) f(i);
}

/// One block, each thread a fixed share, then a fixed tree: the same bits in every run.
template <class F>
__global__ void sum(std::int64_t count, F f, float* out) {
  __shared__ double part[1024];
  double total = 0;
  for (std::int64_t i = threadIdx.x; i < count; i += blockDim.x) total += f(i);
  part[threadIdx.x] = total;
  for (unsigned width = blockDim.x / 2; width > 0; width /= 2) {
    __syncthreads();
    if (threadIdx.x < width) part[threadIdx.x] += part[threadIdx.x + width];
  }
  if (threadIdx.x == 0) *out = static_cast<float>(part[0]);
}

}  // namespace kernels

/// The current CUDA device, one stream; see cpu_backend.
/// Its memory, stream and products are internals of the library (rnnopt::detail), which may change: an embedding and an
/// output layer need products, and those are not the library's public subject.
class gpu_backend {
 public:
  gpu_backend()
      : stream_(rnnopt::detail::make_stream("char_lm")),
        cublas_(rnnopt::detail::make_cublas("char_lm")),
        scratch_(rnnopt::detail::allocate(rnnopt::detail::product_scratch_bytes, "char_lm")) {}

  /// Why no GPU can be used; empty if one can.
  static std::string missing() {
    int count = 0;
    cudaError_t const error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess) return cudaGetErrorString(error);
    return count == 0 ? "no CUDA device" : "";
  }
  static std::string name() {
    int device = 0;
    cudaDeviceProp properties{};
    check(cudaGetDevice(&device));
    check(cudaGetDeviceProperties(&properties, device));
    return properties.name;
  }

  template <class T>
  class buffer {
   public:
    explicit buffer(std::int64_t size)
        : size_(size), data_(rnnopt::detail::allocate(sizeof(T) * static_cast<std::size_t>(size), "char_lm")) {
      check(cudaMemset(data_.get(), 0, sizeof(T) * static_cast<std::size_t>(size)));
      check(cudaDeviceSynchronize());
    }
    T* data() const { return static_cast<T*>(data_.get()); }
    std::int64_t size() const { return size_; }

   private:
    std::int64_t size_;
    rnnopt::detail::owned_memory data_;
  };

  template <class T>
  void upload(buffer<T>& to, T const* from) const {
    check(cudaMemcpyAsync(to.data(), from, bytes(to), cudaMemcpyHostToDevice, stream_.get()));
    check(cudaStreamSynchronize(stream_.get()));
  }
  template <class T>
  void download(T* to, buffer<T> const& from) const {
    check(cudaMemcpyAsync(to, from.data(), bytes(from), cudaMemcpyDeviceToHost, stream_.get()));
    check(cudaStreamSynchronize(stream_.get()));
  }
  template <class T>
  void clear(buffer<T>& b) const {
    check(cudaMemsetAsync(b.data(), 0, bytes(b), stream_.get()));
  }

  template <class F>
  void for_each(std::int64_t count, F const& f) const {
    if (count == 0) return;
    std::int64_t const threads = 128, blocks = (count + threads - 1) / threads;
    kernels::for_each<<<static_cast<unsigned>(blocks < 65535 ? blocks : 65535), static_cast<unsigned>(threads), 0,
                        stream_.get()>>>(count, f);
    check(cudaGetLastError());
  }
  template <class F>
  void sum(std::int64_t count, F const& f, float* out) const {
    kernels::sum<<<1, 1024, 0, stream_.get()>>>(count, f, out);
    check(cudaGetLastError());
  }

  class product {
   public:
    product(gpu_backend const& on, product_extents const& e)
        : planned_(on.cublas_.get(), rnnopt::detail::product_types_of<rnnopt::fp32, float>(), shape(e),
                   rnnopt::product_choice::heuristic) {}

    void operator()(gpu_backend const& on, float const* a, float const* b, float* c) const {
      planned_.run(on.stream_.get(), a, b, c, false, on.scratch_.get());
    }

   private:
    static rnnopt::detail::product_shape shape(product_extents const& e) {
      std::int64_t const a_row = e.a_transposed ? e.m : e.k, b_row = e.b_transposed ? e.k : e.n, size = sizeof(float);
      auto const alignment = [](std::int64_t row_bytes) { return rnnopt::detail::natural_alignment(row_bytes); };
      return {e.m,
              e.n,
              e.k,
              e.a_transposed,
              e.b_transposed,
              a_row,
              b_row,
              e.n,
              alignment(a_row * size),
              alignment(b_row * size),
              alignment(e.n * size)};
    }
    rnnopt::detail::planned_product planned_;
  };

  template <class Cell>
  class network : public rnnopt::rnn<Cell, rnnopt::fp32, rnnopt::schedules::stepwise<>> {
    using base = rnnopt::rnn<Cell, rnnopt::fp32, rnnopt::schedules::stepwise<>>;

   public:
    network(gpu_backend const&, rnnopt::extents const& e) : base(e) {}

    void forward(gpu_backend const& on, typename base::forward_arguments const& a) const {
      base::forward(on.stream_.get(), a);
    }
    void forward_training(gpu_backend const& on, typename base::forward_arguments const& a) const {
      base::forward_training(on.stream_.get(), a);
    }
    void backward(gpu_backend const& on, typename base::backward_arguments const& a) const {
      base::backward(on.stream_.get(), a);
    }
  };

 private:
  static void check(cudaError_t error) { rnnopt::detail::require_success(error, "char_lm"); }
  template <class T>
  static std::size_t bytes(buffer<T> const& b) {
    return sizeof(T) * static_cast<std::size_t>(b.size());
  }

  rnnopt::detail::owned_stream stream_;
  rnnopt::detail::owned_cublas cublas_;
  rnnopt::detail::owned_memory scratch_;
};

}  // namespace char_lm

#include "fill.hpp"

#include "device.hpp"
#include "rnnopt/half.hpp"

namespace bench {
namespace {

/// The output function of SplitMix64 (Steele, Lea and Flood 2014).
__device__ std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

template <class T, class Scale>
__global__ void fill_kernel(T* data, std::int64_t count, Scale scale, std::uint64_t seed) {
  std::int64_t const stride = std::int64_t(gridDim.x) * blockDim.x;
  for (std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride) {
    std::uint64_t const bits = mix(mix(seed) + 0x9e3779b97f4a7c15ull * std::uint64_t(i + 1));
    float const unit = static_cast<float>(bits >> 40) * 0x1p-23f - 1;  // 24 bits, [-1, 1)
    data[i] = static_cast<T>(static_cast<Scale>(unit) * scale);
  }
}

template <class T, class Scale>
void launch(void* data, std::int64_t count, Scale scale, std::uint64_t seed, cudaStream_t stream) {
  if (count == 0) return;
  fill_kernel<<<1024, 256, 0, stream>>>(static_cast<T*>(data), count, scale, seed);
  check_cuda(cudaGetLastError(), "fill_kernel");
}

}  // namespace

void fill_uniform(void* data, element type, std::int64_t count, double scale, std::uint64_t seed, cudaStream_t stream) {
  float const narrow = static_cast<float>(scale);
  switch (type) {
    case element::fp64:
      return launch<double>(data, count, scale, seed, stream);
    case element::fp32:
      return launch<float>(data, count, narrow, seed, stream);
    case element::fp16:
      return launch<rnnopt::half>(data, count, narrow, seed, stream);
    case element::bf16:
      return launch<rnnopt::bfloat16>(data, count, narrow, seed, stream);
  }
}

}  // namespace bench

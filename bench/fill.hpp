#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

namespace bench {

/// Element types of device buffers.
enum class element { fp64, fp32, fp16, bf16 };

/// Fills device memory with numbers uniform in [-scale, scale), a function of `seed` and the index alone.
void fill_uniform(void* data, element type, std::int64_t count, double scale, std::uint64_t seed, cudaStream_t stream);

}  // namespace bench

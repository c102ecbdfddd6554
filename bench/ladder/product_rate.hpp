#pragma once

#include <cstdint>
#include <string>

#include <cuda_runtime_api.h>

namespace bench::ladder {

/// What the GPU makes of a product that is large enough to keep all of it busy.
struct product_rate {
  static constexpr std::int64_t extent = 8192;  ///< of both sides of every operand

  double microseconds = 0;
  int repetitions = 0;

  static constexpr double operations() { return 2.0 * extent * extent * extent; }
};

/// The best of cuBLASLt's products of two square matrices of random numbers in this precision, with the second operand
/// as it is and transposed; median of `repetitions` runs. Blocks.
product_rate measure_product(std::string const& precision, int repetitions, cudaStream_t stream);

}  // namespace bench::ladder

#pragma once

#include <cstdint>
#include <type_traits>

#include "rnnopt/device/matrix_unit_product.cuh"

/// A step's product on the matrix units of compute capability 9.0 as a warpgroup sees them: wgmma reads both operands
/// from shared memory, so that no warp spends its time on fragments. Only in code for sm_90a (the instructions exist
/// nowhere else); the same tiles run on mma.sync otherwise, with the same threads and the same places for the sums.

namespace rnnopt::detail {

/// Describes an operand in shared memory to wgmma: 8 rows of it are `stride` bytes, rows are `row_bytes` long with
/// their chunks exchanged as in step_operands.cuh.
__device__ inline std::uint64_t describe_operand(std::uint32_t address, int row_bytes) {
  std::uint64_t const exchange = row_bytes == 128 ? 1 : row_bytes == 64 ? 2 : 3;
  return std::uint64_t((address & 0x3ffff) >> 4) | std::uint64_t(1) << 16 | std::uint64_t(8 * row_bytes >> 4) << 32 |
         exchange << 62;
}

/// d [64, 64] += left [64, 16] right [16, 64]; Across: the right operand's rows run across k.
template <class T, bool Across>
__device__ void multiply_group(float (&d)[32], std::uint64_t left, std::uint64_t right) {
#if RNNOPT_DEVICE_90A
  if constexpr (std::is_same_v<T, half>)
    asm volatile(
        "{\n\t"
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, "
        "%13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, 1, "
        "1, 1, 0, %34;\n\t}"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
          "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),
          "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
          "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
        : "l"(left), "l"(right), "n"(int(Across)));
  else
    asm volatile(
        "{\n\t"
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, "
        "%13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, 1, "
        "1, 1, 0, %34;\n\t}"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
          "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),
          "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
          "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
        : "l"(left), "l"(right), "n"(int(Across)));
#endif
}
/// d [64, 32] += left [64, 16] right [16, 32]; Across: the right operand's rows run across k.
template <class T, bool Across>
__device__ void multiply_group(float (&d)[16], std::uint64_t left, std::uint64_t right) {
#if RNNOPT_DEVICE_90A
  if constexpr (std::is_same_v<T, half>)
    asm volatile(
        "{\n\t"
        "wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, "
        "%13, %14, %15}, %16, %17, 1, 1, 1, 0, %18;\n\t}"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
          "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15])
        : "l"(left), "l"(right), "n"(int(Across)));
  else
    asm volatile(
        "{\n\t"
        "wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, "
        "%13, %14, %15}, %16, %17, 1, 1, 1, 0, %18;\n\t}"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
          "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15])
        : "l"(left), "l"(right), "n"(int(Across)));
#endif
}
/// d [64, 24] += left [64, 16] right [16, 24]; Across: the right operand's rows run across k.
template <class T, bool Across>
__device__ void multiply_group(float (&d)[12], std::uint64_t left, std::uint64_t right) {
#if RNNOPT_DEVICE_90A
  if constexpr (std::is_same_v<T, half>)
    asm volatile(
        "{\n\t"
        "wgmma.mma_async.sync.aligned.m64n24k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11}, %12, "
        "%13, 1, 1, 1, 0, %14;\n\t}"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
          "+f"(d[9]), "+f"(d[10]), "+f"(d[11])
        : "l"(left), "l"(right), "n"(int(Across)));
  else
    asm volatile(
        "{\n\t"
        "wgmma.mma_async.sync.aligned.m64n24k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11}, %12, "
        "%13, 1, 1, 1, 0, %14;\n\t}"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
          "+f"(d[9]), "+f"(d[10]), "+f"(d[11])
        : "l"(left), "l"(right), "n"(int(Across)));
#endif
}

/// 64 rows; two warpgroups share k: each takes every other k-step of a box.
template <class Precision, int Rows, int Columns, weight_rows Order>
class warpgroup_product {
  using T = typename Precision::storage;
  static constexpr int columns = Columns % 64 == 0 ? 64 : Columns % 32 == 0 ? 32 : 24;  ///< of one instruction
  static constexpr int row_bytes = Order == weight_rows::along_k ? 128 : chunks_across<T, Columns> * 16;

 public:
  static constexpr int threads = 256;
  static constexpr int partial_sums = 2;
  static constexpr bool unrolls = true;  ///< the boxes of a stage
  static_assert(Rows == 64 && Columns % columns == 0);

  __device__ void multiply(std::uint32_t left, std::uint32_t right) {
#if RNNOPT_DEVICE_90A
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int i = 0; i < 4 / partial_sums; ++i) {
      int const step = i * partial_sums + k_part();
      std::uint64_t const a = describe_operand(left + step * 32, 128);
#pragma unroll
      for (int n = 0; n < Columns / columns; ++n) {
        std::uint32_t const at = Order == weight_rows::along_k
                                     ? right + n * columns * 128 + step * 32
                                     : right + n * box_k<T> * row_bytes + step * 16 * row_bytes;
        multiply_group<T, Order == weight_rows::across_k>(sums_[n], a, describe_operand(at, row_bytes));
      }
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
  }
  /// Waits until what multiply() has read may be overwritten.
  __device__ void finish_stage() {
#if RNNOPT_DEVICE_90A
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#endif
  }

  __device__ void store(float* to, int pitch) const {
    int const lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32 % 4;
    float* const mine = to + (k_part() * Rows + 16 * warp + lane / 4) * pitch + 2 * (lane % 4);
#pragma unroll
    for (int n = 0; n < Columns / columns; ++n)
#pragma unroll
      for (int j = 0; j < columns / 8; ++j) {
        float* const at = mine + n * columns + 8 * j;
        *reinterpret_cast<float2*>(at) = make_float2(sums_[n][4 * j], sums_[n][4 * j + 1]);
        *reinterpret_cast<float2*>(at + 8 * pitch) = make_float2(sums_[n][4 * j + 2], sums_[n][4 * j + 3]);
      }
  }

 private:
  __device__ static int k_part() { return int(threadIdx.x) / 128; }

  float sums_[Columns / columns][columns / 2] = {};
};

}  // namespace rnnopt::detail

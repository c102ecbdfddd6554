#pragma once

#include <cstdint>
#include <type_traits>

#include "rnnopt/half.hpp"
#include "rnnopt/precision.hpp"

/// The matrix instructions of a warp, and what brings their operands into its registers.

namespace rnnopt::detail {

/// Whether the products of a precision run on the matrix units here.
template <class Precision>
inline constexpr bool uses_matrix_units = std::is_same_v<typename Precision::accumulate, float> &&
                                          (std::is_same_v<typename Precision::storage, half> ||
                                           std::is_same_v<typename Precision::storage, bfloat16> ||
                                           (std::is_same_v<typename Precision::storage, float> &&
                                            Precision::math == matrix_math::tf32));

/// Four 8x8 matrices of 16 bits, or 8x4 of 32 bits; each lane gives the address of one row.
__device__ inline void load_fragments(std::uint32_t (&to)[4], std::uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address));
}
__device__ inline void load_fragments(std::uint32_t (&to)[2], std::uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(to[0]), "=r"(to[1]) : "r"(address));
}
__device__ inline void load_transposed_fragments(std::uint32_t (&to)[2], std::uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(to[0]), "=r"(to[1])
               : "r"(address));
}

/// sums [16, 8] += left [16, 32 bytes of k] right [32 bytes of k, 8].
template <class T>
__device__ void multiply_fragments(float (&sums)[4], std::uint32_t const (&left)[4], std::uint32_t const (&right)[2]) {
  if constexpr (std::is_same_v<T, half>)
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
        "%3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
  else if constexpr (std::is_same_v<T, bfloat16>)
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, "
        "%2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
  else
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, "
        "%2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
}

/// Rounds the operands of a TF32 product, which would otherwise be cut off; 16-bit operands stay.
template <class T, int Count>
__device__ void round_fragments(std::uint32_t (&fragments)[Count]) {
  if constexpr (std::is_same_v<T, float>)
#pragma unroll
    for (int i = 0; i < Count; ++i) asm("cvt.rna.tf32.f32 %0, %0;" : "+r"(fragments[i]));
}

}  // namespace rnnopt::detail

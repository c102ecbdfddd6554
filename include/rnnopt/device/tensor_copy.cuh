#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>

#include "rnnopt/device/dependent_launch.cuh"

/// Instructions of compute capability 9.0 that C++ has no words for: boxes of a matrix copied to shared memory by the
/// copy engine, barriers in shared memory that count its bytes, and blocks of a cluster. None of it is called on
/// earlier devices, where these functions do nothing.

namespace rnnopt::detail {

__device__ inline std::uint32_t shared_address(void const* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

/// A barrier in shared memory: a phase is over after `arrivals` arrivals and all bytes announced for it.
struct shared_barrier {
  std::uint64_t state;

  __device__ void init(unsigned arrivals) {
#if RNNOPT_DEVICE_90
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(this)), "r"(arrivals) : "memory");
#endif
  }
  __device__ void arrive() {
#if RNNOPT_DEVICE_90
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(this)) : "memory");
#endif
  }
  /// Arrives and announces bytes that will come.
  __device__ void arrive_expecting(unsigned bytes) {
#if RNNOPT_DEVICE_90
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(this)), "r"(bytes)
                 : "memory");
#endif
  }
  /// Waits until the phase of this parity is over. What other blocks of the cluster have sent counts here only once it
  /// is in this block's shared memory, which no cache stands before: the scope of the block is enough to read it. With
  /// .acquire.cluster, which PTX asks for where memory is meant that blocks share, each wait empties L1 as well.
  __device__ void wait(unsigned parity) {
#if RNNOPT_DEVICE_90
    asm volatile(
        "{\n\t.reg .pred over;\n\twaiting:\n\t"
        "mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n\t"
        "@!over bra waiting;\n\t}" ::"r"(shared_address(this)),
        "r"(parity)
        : "memory");
#endif
  }
};

/// Makes initialised barriers known to the copy engine and to the cluster.
__device__ inline void publish_barriers() {
#if RNNOPT_DEVICE_90
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}

/// Fetches the description of a matrix ahead of its first use.
__device__ inline void prefetch_map(CUtensorMap const* map) {
#if RNNOPT_DEVICE_90
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
#endif
}

/// Asks for the line of an address to come into L2.
__device__ inline void prefetch_line(void const* address) { asm volatile("prefetch.global.L2 [%0];" ::"l"(address)); }

/// Starts to copy a box; its bytes count at `barrier`. Coordinates of the first element, innermost first.
__device__ inline void copy_box(void* to, CUtensorMap const* map, int x, int y, shared_barrier* barrier) {
#if RNNOPT_DEVICE_90
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::
          "r"(shared_address(to)),
      "l"(map), "r"(x), "r"(y), "r"(shared_address(barrier))
      : "memory");
#endif
}
__device__ inline void copy_box(void* to, CUtensorMap const* map, int x, int y, int z, shared_barrier* barrier) {
#if RNNOPT_DEVICE_90
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], "
      "[%5];" ::"r"(shared_address(to)),
      "l"(map), "r"(x), "r"(y), "r"(z), "r"(shared_address(barrier))
      : "memory");
#endif
}
/// The address that something in this block's shared memory has in that of a block of the cluster.
__device__ inline std::uint32_t address_in_cluster(std::uint32_t shared, unsigned rank) {
  std::uint32_t there = 0;
#if RNNOPT_DEVICE_90
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared), "r"(rank));
#endif
  return there;
}
/// Writes 16 bytes to the shared memory of a block of the cluster; they count at a barrier of that block.
__device__ inline void send(std::uint32_t to, std::uint32_t const (&words)[4], std::uint32_t barrier) {
#if RNNOPT_DEVICE_90
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(to),
               "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]), "r"(barrier)
               : "memory");
#endif
}

/// The same, to the address that it has here.
__device__ inline void send(void* to, std::uint32_t const (&words)[4], shared_barrier* barrier, unsigned rank) {
  send(address_in_cluster(shared_address(to), rank), words, address_in_cluster(shared_address(barrier), rank));
}

__device__ inline unsigned rank_in_cluster() {
  unsigned rank = 0;
#if RNNOPT_DEVICE_90
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
  return rank;
}

/// All threads of all blocks of the cluster; orders nothing but barriers (see publish_barriers).
__device__ inline void arrive_at_cluster() {
#if RNNOPT_DEVICE_90
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#endif
}
__device__ inline void wait_for_cluster() {
#if RNNOPT_DEVICE_90
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
#endif
}

/// Waits for `threads` threads of the block, those that call it with the same number.
__device__ inline void synchronize_threads(int number, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

/// Describes boxes of a matrix to the copy engine. `extents` and `box` are in elements, innermost first; rows are
/// packed; elements outside the matrix are copied as zeros; rows of a box of up to 128 bytes have their 16-byte chunks
/// exchanged as step_operands.cuh says.
/// @pre the base and the row length are multiples of 16 bytes
template <int Rank>
CUtensorMap describe_boxes(void const* base, CUtensorMapDataType type, int element_bytes,
                           std::uint64_t const (&extents)[Rank], std::uint32_t const (&box)[Rank]) {
  char const* const where = "describing a matrix to the copy engine";
  using encode_function = decltype(&cuTensorMapEncodeTiled);
  static encode_function const encode = [&] {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result{};
    require_success(
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result), where);
    if (result != cudaDriverEntryPointSuccess) require_success(cudaErrorNotSupported, where);
    return reinterpret_cast<encode_function>(found);
  }();
  std::uint64_t strides[Rank];
  std::uint32_t ones[Rank];
  for (int i = 0; i < Rank; ++i) {
    strides[i] = extents[i] * (i == 0 ? std::uint64_t(element_bytes) : strides[i - 1]);
    ones[i] = 1;
  }
  std::uint32_t const row = box[0] * std::uint32_t(element_bytes);
  CUtensorMap map;
  CUresult const made =
      encode(&map, type, Rank, const_cast<void*>(base), extents, strides, box, ones, CU_TENSOR_MAP_INTERLEAVE_NONE,
             row == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
             : row == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                         : CU_TENSOR_MAP_SWIZZLE_32B,
             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (made != CUDA_SUCCESS) require_success(cudaErrorInvalidValue, where);
  return map;
}

}  // namespace rnnopt::detail

#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>

#include "rnnopt/half.hpp"
#include "rnnopt/host/thread_pool.hpp"

/// The matrix product of the host executor: any strides, any of the storage types, float or double sums.
///
/// Blocked as in Goto and van de Geijn, Anatomy of High-Performance Matrix Multiplication (2008), with one
/// difference: C is cut into tiles, and a tile does all of its product alone, packing included. Tiles then need no
/// barriers and no shared panels, at the price of packing a block of A once per tile column and of B once per tile row.
///
/// An element of C is the sum, over blocks of `depth_block` along k, of sums taken in order of k. That depends neither
/// on the tiles nor on m and n: an element has the same bits whatever the number of threads and whichever rows
/// surround it.

namespace rnnopt {
namespace detail {

/// @brief A matrix in memory; element (row, column) is data[row * row_stride + column * column_stride].
template <class T>
struct operand {
  T const* data;
  std::int64_t row_stride;     ///< in elements
  std::int64_t column_stride;  ///< in elements
};

// Width of the vector registers and shape of the block of C kept in them: as many accumulators as leave room for the
// operands. 32 registers of 64 bytes hold 8 x 2, 16 smaller ones 6 x 2; the two along n share each broadcast of A.
//
// A program may hold translation units compiled for different instruction sets, say one of nvcc and one of g++
// -march=native; each width has a namespace of its own so that they do not share functions or storage.
#if defined(__AVX512F__)
inline namespace vectors_of_64_bytes {
constexpr int vector_bytes = 64;
constexpr int block_rows = 8;
#elif defined(__AVX__)
inline namespace vectors_of_32_bytes {
constexpr int vector_bytes = 32;
constexpr int block_rows = 6;
#else
inline namespace vectors_of_16_bytes {
constexpr int vector_bytes = 16;
constexpr int block_rows = 6;
#endif

template <class T>
constexpr int block_columns = 2 * vector_bytes / static_cast<int>(sizeof(T));

constexpr std::int64_t depth_block = 256;   // a panel of B, 256 x block_columns, stays in the first-level cache
constexpr std::int64_t tile_rows = 128;     // a block of A, 128 x 256, stays in the second-level cache
constexpr std::int64_t tile_columns = 256;  // enough to pay for packing that block
constexpr double threading_pays = 2e5;      // multiply-adds, from which on a warm pool is faster than one thread

template <class T>
struct vector_of {
  typedef T type __attribute__((vector_size(vector_bytes)));
};

/// to[0 .. block_columns) += the two vectors.
template <class T>
void add_vectors(T* to, typename vector_of<T>::type const (&sum)[2]) {
  constexpr int lanes = block_columns<T> / 2;
  typename vector_of<T>::type left, right;
  std::memcpy(&left, to, sizeof left);
  std::memcpy(&right, to + lanes, sizeof right);
  left += sum[0];
  right += sum[1];
  std::memcpy(to, &left, sizeof left);
  std::memcpy(to + lanes, &right, sizeof right);
}

/// out[r, 0 .. block_columns) += sum over k of a[r, k] * b[k, 0 .. block_columns), for each r in Rows; the rows of b
/// and out are contiguous. Folds, not loops, over r: the accumulators must end up in registers.
template <class T, std::int64_t... Rows>
void multiply_block(std::integer_sequence<std::int64_t, Rows...>, std::int64_t k, operand<T> a, T const* b,
                    std::int64_t b_stride, T* out, std::int64_t out_stride) {
  using vector = typename vector_of<T>::type;
  vector sum[sizeof...(Rows)][2] = {};
  for (std::int64_t p = 0; p < k; ++p, a.data += a.column_stride, b += b_stride) {
    vector left, right;
    std::memcpy(&left, b, sizeof left);
    std::memcpy(&right, b + block_columns<T> / 2, sizeof right);
    ((sum[Rows][0] += a.data[Rows * a.row_stride] * left, sum[Rows][1] += a.data[Rows * a.row_stride] * right), ...);
  }
  (add_vectors(out + Rows * out_stride, sum[Rows]), ...);
}

/// multiply_block for a number of rows known only at run time.
template <int Rows = block_rows, class T>
void multiply_rows(std::int64_t rows, std::int64_t k, operand<T> a, T const* b, std::int64_t b_stride, T* out,
                   std::int64_t out_stride) {
  if constexpr (Rows > 1) {
    if (rows < Rows) return multiply_rows<Rows - 1>(rows, k, a, b, b_stride, out, out_stride);
  }
  multiply_block(std::make_integer_sequence<std::int64_t, Rows>{}, k, a, b, b_stride, out, out_stride);
}

template <bool RoundToTf32, class To, class From>
To load(From value) {
  To const converted = static_cast<To>(value);
  // The 16-bit types are subsets of TF32.
  if constexpr (RoundToTf32 && sizeof(From) > 2) {
    return static_cast<To>(round_to_tf32(static_cast<float>(converted)));
  } else {
    return converted;
  }
}

/// Copies a matrix, converted, to one with contiguous rows.
template <bool RoundToTf32, class To, class From>
void pack_rows(std::int64_t rows, std::int64_t columns, operand<From> from, To* to, std::int64_t to_stride) {
  for (std::int64_t row = 0; row < rows; ++row, from.data += from.row_stride, to += to_stride) {
    if (from.column_stride == 1) {  // apart, so that it vectorises
      for (std::int64_t i = 0; i < columns; ++i) to[i] = load<RoundToTf32, To>(from.data[i]);
    } else {
      for (std::int64_t i = 0; i < columns; ++i) to[i] = load<RoundToTf32, To>(from.data[i * from.column_stride]);
    }
  }
}

/// Copies block_columns or fewer columns of B, converted, to contiguous rows padded with zeros.
template <bool RoundToTf32, class To, class From>
void pack_panel(std::int64_t k, std::int64_t columns, operand<From> from, To* to) {
  constexpr std::int64_t width = block_columns<To>;
  if (columns < width) std::fill(to, to + k * width, To(0));
  if (from.row_stride != 1) return pack_rows<RoundToTf32>(k, columns, from, to, width);
  // Columns are contiguous: convert a run of each, which vectorises, before it is scattered over rows.
  constexpr std::int64_t run = 16;
  std::int64_t p = 0;
  for (; p + run <= k; p += run) {
    for (std::int64_t j = 0; j < columns; ++j) {
      From const* const source = from.data + p + j * from.column_stride;
      To converted[run];
      for (std::int64_t i = 0; i < run; ++i) converted[i] = load<RoundToTf32, To>(source[i]);
      for (std::int64_t i = 0; i < run; ++i) to[(p + i) * width + j] = converted[i];
    }
  }
  from.data += p;
  pack_rows<RoundToTf32>(k - p, columns, from, to + p * width, width);
}

/// The storage of one thread for its tile, kept from call to call.
template <class T>
struct tile_scratch {
  static constexpr std::int64_t a_stride = depth_block + 16;  // no power of two: those share few lines of a cache

  /// The row length of `sum` for n columns: whole blocks.
  static std::int64_t sum_stride(std::int64_t n) {
    return (n + block_columns<T> - 1) / block_columns<T> * block_columns<T>;
  }

  alignas(64) T sum[tile_rows * tile_columns];
  alignas(64) T b[depth_block * block_columns<T>];
  alignas(64) T a[tile_rows * a_stride];

  static tile_scratch& instance() {
    static thread_local std::unique_ptr<tile_scratch> const scratch = std::make_unique<tile_scratch>();
    return *scratch;
  }
};

/// The sums of one tile, left in the calling thread's scratch.
template <bool RoundToTf32, class Accumulate, class A, class B>
void sum_tile(std::int64_t m, std::int64_t n, std::int64_t k, operand<A> a, operand<B> b) {
  constexpr std::int64_t width = block_columns<Accumulate>;
  constexpr bool b_as_is = std::is_same_v<B, Accumulate> && !RoundToTf32;
  auto& scratch = tile_scratch<Accumulate>::instance();
  std::int64_t const sum_stride = tile_scratch<Accumulate>::sum_stride(n);
  std::fill(scratch.sum, scratch.sum + m * sum_stride, Accumulate(0));
  for (std::int64_t p = 0; p < k; p += depth_block) {
    std::int64_t const depth = (std::min)(depth_block, k - p);
    A const* const a_p = a.data + p * a.column_stride;
    operand<Accumulate> packed{scratch.a, scratch.a_stride, 1};
    if (a.row_stride == 1 && a.column_stride != 1) {  // keep its order, so that both sides of the copy are contiguous
      packed = {scratch.a, 1, tile_rows};
      pack_rows<RoundToTf32>(depth, m, operand<A>{a_p, a.column_stride, 1}, scratch.a, tile_rows);
    } else {
      pack_rows<RoundToTf32>(m, depth, operand<A>{a_p, a.row_stride, a.column_stride}, scratch.a, scratch.a_stride);
    }
    for (std::int64_t j = 0; j < n; j += width) {
      operand<B> const b_panel{b.data + p * b.row_stride + j * b.column_stride, b.row_stride, b.column_stride};
      Accumulate const* panel = scratch.b;
      std::int64_t panel_stride = width;
      // With few rows a copy would cost as much as the product.
      bool const in_place = b_as_is && b.column_stride == 1 && m <= 2 * block_rows && j + width <= n;
      if (!in_place) {
        pack_panel<RoundToTf32>(depth, (std::min)(width, n - j), b_panel, scratch.b);
      } else if constexpr (b_as_is) {
        panel = b_panel.data;
        panel_stride = b.row_stride;
      }
      operand<Accumulate> a_block = packed;
      for (std::int64_t i = 0; i < m;) {
        std::int64_t const blocks = (m - i + block_rows - 1) / block_rows;
        std::int64_t const rows = (m - i + blocks - 1) / blocks;  // 6 + 6 rather than 8 + 4
        multiply_rows(rows, depth, a_block, panel, panel_stride, scratch.sum + i * sum_stride + j, sum_stride);
        a_block.data += rows * a_block.row_stride;
        i += rows;
      }
    }
  }
}

/// c = beta * c + the sums of the tile.
template <class Accumulate, class C>
void store_tile(std::int64_t m, std::int64_t n, C* c, std::int64_t c_row_stride, Accumulate beta) {
  auto const& scratch = tile_scratch<Accumulate>::instance();
  std::int64_t const sum_stride = tile_scratch<Accumulate>::sum_stride(n);
  for (std::int64_t i = 0; i < m; ++i) {
    Accumulate const* const sum = scratch.sum + i * sum_stride;
    C* const row = c + i * c_row_stride;
    if (beta == Accumulate(0)) {
      for (std::int64_t j = 0; j < n; ++j) row[j] = static_cast<C>(sum[j]);
    } else {
      for (std::int64_t j = 0; j < n; ++j) row[j] = static_cast<C>(beta * static_cast<Accumulate>(row[j]) + sum[j]);
    }
  }
}

/// @brief C[m, n] = beta * C[m, n] + sum over k of A[m, k] * B[k, n].
///
/// NaN and infinity propagate as IEEE says: 0 * NaN is NaN. C must not overlap A or B.
/// @tparam RoundToTf32 rounds both operands to 10 mantissa bits first
/// @tparam Accumulate float or double: what operands are converted to and sums are kept in
/// @param m rows of A and of C
/// @param n columns of B and of C
/// @param k columns of A, rows of B; with zero, the sum is zero and neither is read
/// @param a [m, k], of float, double, half or bfloat16; to transpose it, exchange its strides
/// @param b [k, n], likewise
/// @param c [m, n] with contiguous rows, of any of these types; rounded once, from the whole right-hand side
/// @param c_row_stride in elements
/// @param beta with zero, C is written without being read
template <bool RoundToTf32 = false, class Accumulate, class A, class B, class C>
void product(std::int64_t m, std::int64_t n, std::int64_t k, operand<A> a, operand<B> b, C* c,
             std::int64_t c_row_stride, Accumulate beta) {
  static_assert(std::is_same_v<Accumulate, float> || std::is_same_v<Accumulate, double>,
                "rnnopt: sums are kept in float or double; write beta as one of them");
  if (m <= 0 || n <= 0) return;
  if (k <= 0) a = {nullptr, 0, 0}, b = {nullptr, 0, 0};  // no offsets from pointers to nothing
  constexpr std::int64_t width = block_columns<Accumulate>;
  auto const parts = [](std::int64_t extent, std::int64_t part) { return (extent + part - 1) / part; };
  bool const threaded = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) > threading_pays;
  std::int64_t rows = tile_rows;
  std::int64_t columns = tile_columns;
  if (threaded) {
    // Two tiles per thread where the product has them. Columns are halved first: that costs packing A again, which is
    // the smaller operand where there are few tiles.
    std::int64_t const wanted = 2 * thread_pool::instance().threads();
    while (parts(m, rows) * parts(n, columns) < wanted && columns > 64) columns /= 2;
    while (parts(m, rows) * parts(n, columns) < wanted && rows > 2 * block_rows) rows /= 2;
  }
  rows = parts(m, parts(m, rows));  // tiles of about the same size
  columns = parts(parts(n, parts(n, columns)), width) * width;
  std::int64_t const column_tiles = parts(n, columns);
  std::int64_t const tiles = parts(m, rows) * column_tiles;
  auto const compute = [&](std::int64_t tile) {
    std::int64_t const i = tile / column_tiles * rows;
    std::int64_t const j = tile % column_tiles * columns;
    std::int64_t const tile_m = (std::min)(rows, m - i);
    std::int64_t const tile_n = (std::min)(columns, n - j);
    sum_tile<RoundToTf32, Accumulate>(tile_m, tile_n, k,
                                      operand<A>{a.data + i * a.row_stride, a.row_stride, a.column_stride},
                                      operand<B>{b.data + j * b.column_stride, b.row_stride, b.column_stride});
    store_tile(tile_m, tile_n, c + i * c_row_stride + j, c_row_stride, beta);
  };
  if (threaded) {
    thread_pool::instance().parallel_for(tiles, compute);
  } else {
    for (std::int64_t tile = 0; tile < tiles; ++tile) compute(tile);
  }
}

}  // namespace of this width
}  // namespace detail
}  // namespace rnnopt

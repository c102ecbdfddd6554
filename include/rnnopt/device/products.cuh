#pragma once

#include <cstddef>
#include <map>
#include <tuple>

#include "rnnopt/buffers.hpp"
#include "rnnopt/checks.hpp"
#include "rnnopt/device/product.cuh"
#include "rnnopt/extents.hpp"
#include "rnnopt/schedule.hpp"

/// The matrix products of a network: which there are, how they lie in memory, and the planned algorithm of each.

namespace rnnopt::detail {

enum class product_kind {
  input,               ///< W x over a run of steps
  recurrent,           ///< R h of one step
  recurrent_gradient,  ///< gate gradients of one step through R
  input_gradient,      ///< gate gradients through W over a run of steps
  input_weights,       ///< dW over all steps
  recurrent_weights    ///< dR over all steps
};

/// What tells one product of a network from another; layers above the first are alike, and so are gates.
struct product_key {
  product_kind kind;
  bool first_layer;
  std::int64_t steps;
  bool one_gate = false;  ///< one row block of W or R instead of all

  bool operator<(product_key const& other) const {
    return std::tie(kind, first_layer, steps, one_gate) <
           std::tie(other.kind, other.first_layer, other.steps, other.one_gate);
  }
};

/// What products read as W and R: the weights themselves, or their transposed copies where the caller has packed them.
template <class Storage>
class product_weights {
 public:
  /// @param packed  null: none
  product_weights(extents const& e, packed_layout const& layout, line_weights<Storage const> const* weights,
                  const_memory const& packed)
      : e_(e), layout_(layout), weights_(weights), packed_(static_cast<std::byte const*>(packed.data)) {}

  /// W of a line from row block `gate` on.
  Storage const* input(line const& l, std::int64_t gate = 0) const {
    std::int64_t const index = index_of(e_, l), row = gate * e_.hidden;
    if (packed_ != nullptr) return at<Storage const>(packed_, layout_.input(index), row);
    return weights_[index].input + row * e_.input_of(l.layer);
  }
  /// R of a line from row block `gate` on.
  Storage const* recurrent(line const& l, std::int64_t gate = 0) const {
    std::int64_t const index = index_of(e_, l), row = gate * e_.hidden;
    if (packed_ != nullptr) return at<Storage const>(packed_, layout_.recurrent(index), row);
    return weights_[index].recurrent + row * e_.hidden;
  }

 private:
  extents const& e_;
  packed_layout const& layout_;
  line_weights<Storage const> const* weights_;
  std::byte const* packed_;
};

template <class Precision>
class network_products {
  using storage = typename Precision::storage;
  using accumulate = typename Precision::accumulate;

 public:
  /// @param transposed  whether products with W and R read transposed copies
  network_products(extents const& e, cell_shape const& cell, bool transposed)
      : e_(e), cell_(cell), transposed_(transposed) {}

  /// Plans a product unless it is there already; `lanes`: how many are timed at once, where they are.
  void plan(cublasLtHandle_t cublas, product_key const& key, product_choice choice, int lanes) {
    if (products_.count(key) == 0)
      products_.emplace(std::piecewise_construct, std::forward_as_tuple(key),
                        std::forward_as_tuple(cublas, types_of(key), shape_of(key), choice, lanes));
  }

  planned_product const& operator[](product_key const& key) const {
    auto const found = products_.find(key);
    if (found == products_.end())
      fail(errc::schedule_inconsistent, "rnn", "the schedule emits a product that it did not emit while planning",
           "emit the same operations every time");
    return found->second;
  }

 private:
  product_types types_of(product_key const& key) const {
    return key.kind == product_kind::input_gradient ? product_types_of<Precision, storage>()
                                                    : product_types_of<Precision, accumulate>();
  }

  /// Operand and result geometry; every pointer is a base with natural alignment plus whole rows.
  product_shape shape_of(product_key const& key) const {
    std::int64_t const hidden = e_.hidden, inputs = e_.input_of(key.first_layer ? 0 : 1);
    // Rows of gate sums and gate gradients hold all gates; a product of one gate takes its columns.
    std::int64_t const input_width = cell_.input_gates * hidden, recurrent_width = cell_.recurrent_gates * hidden;
    std::int64_t const input_columns = key.one_gate ? hidden : input_width;
    std::int64_t const recurrent_columns = key.one_gate ? hidden : recurrent_width;
    std::int64_t const rows = key.steps * e_.batch;
    std::int64_t const s = sizeof(storage), a = sizeof(accumulate);
    std::size_t const hidden_storage = natural_alignment(hidden * s), hidden_sum = natural_alignment(hidden * a);
    std::size_t const input_storage = natural_alignment(inputs * s);
    std::size_t const w_storage = transposed_ ? hidden_storage : natural_alignment(hidden * s, inputs * s);
    std::int64_t const w_row = transposed_ ? input_width : inputs, r_row = transposed_ ? recurrent_width : hidden;
    switch (key.kind) {
      case product_kind::input:
        return {rows,  input_columns, inputs,        false,     !transposed_, inputs,
                w_row, input_width,   input_storage, w_storage, hidden_sum};
      case product_kind::recurrent:
        return {rows,  recurrent_columns, hidden,         false,          !transposed_, hidden,
                r_row, recurrent_width,   hidden_storage, hidden_storage, hidden_sum};
      case product_kind::recurrent_gradient:
        return {rows,  hidden, recurrent_columns, false,          transposed_, recurrent_width,
                r_row, hidden, hidden_storage,    hidden_storage, hidden_sum};
      case product_kind::input_gradient:
        return {rows,  inputs, input_columns,  false,     transposed_,  input_width,
                w_row, inputs, hidden_storage, w_storage, input_storage};
      case product_kind::input_weights:
        return {input_width,
                inputs,
                rows,
                true,
                false,
                input_width,
                inputs,
                inputs,
                hidden_storage,
                input_storage,
                natural_alignment(hidden * a, inputs * a)};
      case product_kind::recurrent_weights:
        break;
    }
    return {recurrent_width, hidden, rows,           true,           false,     recurrent_width,
            hidden,          hidden, hidden_storage, hidden_storage, hidden_sum};
  }

  extents e_;
  cell_shape cell_;
  bool transposed_;
  std::map<product_key, planned_product> products_;
};

}  // namespace rnnopt::detail

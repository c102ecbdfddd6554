#pragma once

#include <map>
#include <tuple>

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

/// What tells one product of a network from another; layers above the first are alike.
struct product_key {
  product_kind kind;
  bool first_layer;
  std::int64_t steps;

  bool operator<(product_key const& other) const {
    return std::tie(kind, first_layer, steps) < std::tie(other.kind, other.first_layer, other.steps);
  }
};

template <class Precision>
class network_products {
  using storage = typename Precision::storage;
  using accumulate = typename Precision::accumulate;

 public:
  network_products(extents const& e, cell_shape const& cell) : e_(e), cell_(cell) {}

  /// Plans a product unless it is there already.
  void plan(cublasLtHandle_t cublas, product_key const& key, product_choice choice) {
    if (products_.count(key) == 0)
      products_.emplace(std::piecewise_construct, std::forward_as_tuple(key),
                        std::forward_as_tuple(cublas, types_of(key), shape_of(key), choice));
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
    std::int64_t const input_width = cell_.input_gates * hidden, recurrent_width = cell_.recurrent_gates * hidden;
    std::int64_t const rows = key.steps * e_.batch;
    std::int64_t const s = sizeof(storage), a = sizeof(accumulate);
    std::size_t const hidden_storage = natural_alignment(hidden * s), hidden_sum = natural_alignment(hidden * a);
    std::size_t const input_storage = natural_alignment(inputs * s);
    std::size_t const w_storage = natural_alignment(hidden * s, inputs * s);
    switch (key.kind) {
      case product_kind::input:
        return {rows,   input_width, inputs,        false,     true,      inputs,
                inputs, input_width, input_storage, w_storage, hidden_sum};
      case product_kind::recurrent:
        return {rows,   recurrent_width, hidden,         false,          true,      hidden,
                hidden, recurrent_width, hidden_storage, hidden_storage, hidden_sum};
      case product_kind::recurrent_gradient:
        return {rows,   hidden, recurrent_width, false,          false,     recurrent_width,
                hidden, hidden, hidden_storage,  hidden_storage, hidden_sum};
      case product_kind::input_gradient:
        return {rows,   inputs, input_width,    false,     false,        input_width,
                inputs, inputs, hidden_storage, w_storage, input_storage};
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
  std::map<product_key, planned_product> products_;
};

}  // namespace rnnopt::detail

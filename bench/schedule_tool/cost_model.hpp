#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "rnnopt/extents.hpp"
#include "rnnopt/recorder.hpp"

/// How long an operation takes on an H200, in microseconds, when the pass is captured in a CUDA graph.
///
/// Assumptions:
/// - Each operation has the GPU to itself: lanes that run at the same time do not slow each other down.
/// - What it reads and writes is in L2, and goes there and back once.
/// - A product takes a fixed time, and the larger of its arithmetic at the rate of large products and its bytes.
/// - Any other kernel takes a fixed time at least, and no less than its bytes.
/// - A fused step takes a fixed time, and the larger of its arithmetic and its bytes; R and h are read once.
/// - A sweep takes a fixed time for each step, beside that of a kernel, however large R is.
/// - Signals and waits are edges of the graph and cost nothing; priorities and transposed weights change nothing.
/// - The input is as wide as the hidden state, every row as long as the others, every gradient asked for.
///
/// From bench/results/2026-12-01_h200.csv are the rates (weight gradients) and the fixed time of a product (what is
/// left of a step of stepwise in fp16), from 2026-12-01_h200_cluster.csv the step of a sweep at one shape; the other
/// constants were measured kernel by kernel. How well the whole agrees with those results is in bench/README.md.

namespace schedule_tool {

/// What a cell costs: its counts, and how many kernels of one arithmetic operation each a step takes.
struct cell_cost {
  std::string name;
  rnnopt::cell_shape shape;
  std::int64_t forward_operations;
  std::int64_t backward_operations;
};

/// What a precision costs.
struct precision_cost {
  std::string name;
  std::int64_t storage_bytes;
  double
      flops_per_microsecond;  ///< of large products: the weight gradients of an LSTM, hidden 512, batch 64, 100 steps
};

inline std::vector<precision_cost> const& precision_costs() {
  static std::vector<precision_cost> const costs{
      {"fp32", 4, 45e6}, {"tf32", 4, 140e6}, {"fp16", 2, 500e6}, {"bf16", 2, 500e6}};
  return costs;
}

class cost_model {
 public:
  cost_model(rnnopt::extents const& e, cell_cost const& cell, precision_cost const& precision)
      : e_(e), cell_(cell), precision_(precision) {}

  /// Microseconds of an operation that is neither signal nor wait.
  double operator()(rnnopt::operation const& op) const {
    using kind = rnnopt::operation_kind;
    std::int64_t const input = e_.input_of(op.line.layer), rows = e_.batch * op.steps;
    std::int64_t const of_w = cell_.shape.input_gates * e_.hidden, of_r = cell_.shape.recurrent_gates * e_.hidden;
    switch (op.kind) {
      case kind::input_product:
        return product(rows, of_w, input);
      case kind::gate_input_product:
        return product(rows, e_.hidden, input);
      case kind::recurrent_product:
        return product(rows, of_r, e_.hidden);
      case kind::gate_recurrent_product:
      case kind::gate_recurrent_gradient:
        return product(rows, e_.hidden, e_.hidden);
      case kind::recurrent_gradient:
        return product(rows, e_.hidden, of_r);
      case kind::input_gradient:
        return product(rows, input, of_w);
      case kind::gate_input_gradient:
        return product(rows, input, e_.hidden);
      case kind::weight_gradient:
        return product(of_w, input, e_.batch * e_.steps) + product(of_r, e_.hidden, e_.batch * e_.steps);
      case kind::pointwise:
      case kind::pointwise_gradient:
        return kernel(pointwise_microseconds, cell_bytes());
      case kind::elementwise:
        return double(cell_.forward_operations) * one_elementwise();
      case kind::elementwise_gradient:
        return double(cell_.backward_operations) * one_elementwise();
      case kind::step:
        return fused_step(of_r);
      case kind::step_gradient:
        // Nothing comes back through R at the last step.
        return op.first_step + 1 < e_.steps ? fused_step(of_r) : kernel(pointwise_microseconds, cell_bytes());
      case kind::sweep:
      case kind::sweep_gradient:
        return kernel_microseconds + double(op.steps) * sweep_step_microseconds;
      case kind::signal:
      case kind::wait:
        break;
    }
    return 0;
  }

 private:
  static constexpr double kernel_microseconds = 1.2;   // any kernel of a graph, at least
  static constexpr double pointwise_microseconds = 2;  // all of a cell in one kernel, at least
  static constexpr double product_microseconds = 4.2;  // beyond arithmetic or bytes: start, first tiles, last tiles
  static constexpr double step_microseconds =
      2.2;  // likewise of a fused step: 3.1 for an LSTM, hidden 512, batch 64, fp16
  static constexpr double sweep_step_microseconds = 1.7;  // of an LSTM, hidden 512, batch 64, fp16
  static constexpr double bytes_per_microsecond = 5e6;    // of L2
  static constexpr double step_bytes_per_microsecond = 4e6;
  static constexpr std::int64_t accumulate_bytes = 4;

  static double kernel(double least, double bytes) { return std::max(least, bytes / bytes_per_microsecond); }

  double arithmetic(std::int64_t rows, std::int64_t columns, std::int64_t inner) const {
    return 2.0 * double(rows) * double(columns) * double(inner) / precision_.flops_per_microsecond;
  }
  /// [rows, inner] times [inner, columns].
  double product(std::int64_t rows, std::int64_t columns, std::int64_t inner) const {
    double const bytes = double(precision_.storage_bytes) * double(inner) * double(rows + columns) +
                         double(accumulate_bytes) * double(rows) * double(columns);
    return product_microseconds + std::max(arithmetic(rows, columns, inner), bytes / bytes_per_microsecond);
  }
  /// What the cell reads and writes in a step: products or arriving gradients, saved pre-activations, old and new
  /// states.
  double cell_bytes() const {
    rnnopt::cell_shape const& s = cell_.shape;
    return double(e_.batch * e_.hidden) * double(accumulate_bytes * (s.input_gates + s.recurrent_gates + 2 * s.states) +
                                                 precision_.storage_bytes * s.gates);
  }
  double fused_step(std::int64_t rows_of_r) const {
    // The recurrent products stay in registers.
    double const bytes = cell_bytes() - double(accumulate_bytes * e_.batch * rows_of_r) +
                         double(precision_.storage_bytes * e_.hidden * (rows_of_r + e_.batch));
    return step_microseconds + std::max(arithmetic(e_.batch, rows_of_r, e_.hidden), bytes / step_bytes_per_microsecond);
  }
  /// Two operands and a result, [batch, hidden] each.
  double one_elementwise() const {
    return kernel(kernel_microseconds, 3.0 * double(accumulate_bytes * e_.batch * e_.hidden));
  }

  rnnopt::extents e_;
  cell_cost cell_;
  precision_cost precision_;
};

}  // namespace schedule_tool

#pragma once

#include <stdexcept>
#include <string>

#include "rnnopt/cell.hpp"
#include "rnnopt/cells/gru.hpp"
#include "rnnopt/cells/lstm.hpp"
#include "rnnopt/cells/vanilla.hpp"
#include "shape.hpp"

namespace bench::ladder {

inline rnnopt::cell_shape shape_of_cell(std::string const& cell) {
  if (cell == "lstm") return rnnopt::detail::shape_of<rnnopt::lstm>();
  if (cell == "gru") return rnnopt::detail::shape_of<rnnopt::gru>();
  if (cell == "vanilla_tanh") return rnnopt::detail::shape_of<rnnopt::vanilla<rnnopt::activations::tanh>>();
  throw std::invalid_argument("the ladder has no cell '" + cell + "'");
}

/// Operations of all products of a forward pass, and as many of backward data: an addition and a multiplication for
/// each weight, row of the batch and step. Pointwise operations are not counted.
inline double floating_point_operations(shape const& s) {
  rnnopt::cell_shape const cell = shape_of_cell(s.cell);
  double const hidden = double(s.hidden), input = hidden;
  double const weights = hidden * (double(cell.input_gates) * input + double(cell.recurrent_gates) * hidden);
  return 2 * weights * double(s.batch) * double(s.steps) * double(s.layers);
}

/// From operations and microseconds.
inline double gflops(double operations, double microseconds) { return operations / microseconds * 1e-3; }

}  // namespace bench::ladder

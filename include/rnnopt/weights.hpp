#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rnnopt/cell.hpp"
#include "rnnopt/extents.hpp"

namespace rnnopt {

/// @brief The parameters (or their gradients) of one line, by pointer; each matrix may lie anywhere.
///
/// Rows are gate blocks of `hidden` rows in the order of the cell's gate list (see rnnopt::gates).
template <class T>
struct line_weights {
  T* input = nullptr;      ///< W, [input_gates * hidden, input of the layer], row-major
  T* recurrent = nullptr;  ///< R, [recurrent_gates * hidden, hidden], row-major
  T* bias = nullptr;       ///< [gates, hidden]; null: no bias
  T* units = nullptr;      ///< [unit_parameters, hidden]; null only where the cell has none
};

/// @brief One buffer for all parameters of a network: line after line, each W, R, bias, unit parameters, no gaps.
///
/// Offsets are in elements. The parameter count of line l with I inputs is
/// hidden * (input_gates * I + recurrent_gates * hidden + gates + unit_parameters).
template <class Cell>
class weight_layout {
 public:
  /// @brief Offsets in elements of one line's parameters.
  struct offsets {
    std::int64_t input = 0;
    std::int64_t recurrent = 0;
    std::int64_t bias = 0;
    std::int64_t units = 0;
    std::int64_t end = 0;
  };

  /// @throws logic_error for bad extents or a size beyond 64 bits
  explicit weight_layout(extents const& e) {
    static_assert(detail::require_cell<Cell>::value);
    std::string const where = "weight_layout";
    detail::check_extents(where, e);
    cell_shape const cell = detail::shape_of<Cell>();
    std::int64_t end = 0;
    lines_.reserve(static_cast<std::size_t>(e.lines()));
    for (std::int64_t layer = 0; layer < e.layers; ++layer)
      for (std::int64_t direction = 0; direction < e.directions; ++direction) {
        auto const take = [&](auto... sizes) {
          std::int64_t const start = end;
          end = detail::checked_sum(where, end, detail::checked_product(where, e.hidden, sizes...));
          return start;
        };
        offsets line;
        line.input = take(cell.input_gates, e.input_of(layer));
        line.recurrent = take(cell.recurrent_gates, e.hidden);
        line.bias = take(cell.gates);
        line.units = take(cell.unit_parameters);
        line.end = end;
        lines_.push_back(line);
      }
  }

  /// @brief Number of parameters of the whole network.
  std::int64_t size() const { return lines_.back().end; }

  /// @brief Offsets of line `index` = layer * directions + direction.
  offsets const& line(std::int64_t index) const { return lines_.at(static_cast<std::size_t>(index)); }

  /// @brief Pointers into a buffer of size() elements, one entry a line, in the order forward and backward take.
  template <class T>
  std::vector<line_weights<T>> bind(T* base) const {
    std::vector<line_weights<T>> result;
    result.reserve(lines_.size());
    for (offsets const& o : lines_)
      result.push_back({base + o.input, base + o.recurrent, base + o.bias, o.end > o.units ? base + o.units : nullptr});
    return result;
  }

 private:
  std::vector<offsets> lines_;
};

}  // namespace rnnopt

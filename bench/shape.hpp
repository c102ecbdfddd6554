#pragma once

#include <cstdint>
#include <string>

namespace bench {

/// One row of the grid: a network whose input is as wide as its hidden state.
struct shape {
  std::string cell;
  std::int64_t hidden = 0;
  std::int64_t batch = 0;
  std::int64_t steps = 0;
  std::int64_t layers = 0;
  std::string precision;
};

/// The row as it stands in a grid file: cell,hidden,batch,steps,layers,precision.
inline std::string row_of(shape const& s) {
  std::string row = s.cell;
  for (std::int64_t const extent : {s.hidden, s.batch, s.steps, s.layers}) row += "," + std::to_string(extent);
  return row + "," + s.precision;
}

}  // namespace bench

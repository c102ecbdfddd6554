#pragma once

#include <cstdint>
#include <string>
#include <vector>

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

/// The fields of the row, in the order of the columns of a grid file.
inline std::vector<std::string> fields_of(shape const& s) {
  std::vector<std::string> fields{s.cell};
  for (std::int64_t const extent : {s.hidden, s.batch, s.steps, s.layers}) fields.push_back(std::to_string(extent));
  fields.push_back(s.precision);
  return fields;
}

/// The row as it stands in a grid file: cell,hidden,batch,steps,layers,precision.
inline std::string row_of(shape const& s) {
  std::string row;
  for (std::string const& field : fields_of(s)) row += (row.empty() ? "" : ",") + field;
  return row;
}

}  // namespace bench

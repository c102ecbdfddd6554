#include "grid.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <stdexcept>

namespace bench {
namespace {

std::string trimmed(std::string const& text) {
  char const* const blank = " \t\r";
  auto const first = text.find_first_not_of(blank);
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

std::vector<std::string> split(std::string const& line) {
  std::vector<std::string> fields;
  for (std::size_t begin = 0;;) {
    auto const comma = line.find(',', begin);
    fields.push_back(trimmed(line.substr(begin, comma - begin)));
    if (comma == std::string::npos) return fields;
    begin = comma + 1;
  }
}

constexpr std::array<char const*, 6> columns{"cell", "hidden", "batch", "steps", "layers", "precision"};

}  // namespace

std::vector<shape> read_grid(std::string const& path) {
  std::ifstream file(path);
  if (!file) throw std::invalid_argument("cannot read the grid '" + path + "' (name one with --grid)");

  std::vector<shape> shapes;
  std::array<std::size_t, columns.size()> position{};
  bool header_seen = false;
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    std::string const where = path + ":" + std::to_string(number) + ": ";
    line = trimmed(line);
    if (line.empty() || line.front() == '#') continue;
    auto const fields = split(line);
    if (!header_seen) {
      for (std::size_t c = 0; c < columns.size(); ++c) {
        auto const found = std::find(fields.begin(), fields.end(), columns[c]);
        if (found == fields.end())
          throw std::invalid_argument(where + "the header names no column '" + columns[c] +
                                      "', needs cell,hidden,batch,steps,layers,precision");
        position[c] = static_cast<std::size_t>(found - fields.begin());
      }
      header_seen = true;
      continue;
    }
    auto const field = [&](std::size_t c) -> std::string const& {
      if (position[c] >= fields.size()) throw std::invalid_argument(where + "no value for '" + columns[c] + "'");
      return fields[position[c]];
    };
    auto const extent = [&](std::size_t c) {
      std::string const& text = field(c);
      std::int64_t value = 0;
      auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error != std::errc() || end != text.data() + text.size())
        throw std::invalid_argument(where + columns[c] + " is '" + text + "', needs an integer");
      return value;
    };
    shapes.push_back({field(0), extent(1), extent(2), extent(3), extent(4), field(5)});
  }
  if (!header_seen) throw std::invalid_argument(path + ": the grid is empty, needs a header line");
  return shapes;
}

}  // namespace bench

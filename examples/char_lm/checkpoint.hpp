#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "archive.hpp"
#include "error.hpp"
#include "file.hpp"
#include "limits.hpp"
#include "parameters.hpp"
#include "text.hpp"

/// Saving and loading all that training depends on, bit for bit.

namespace char_lm {

struct checkpoint {
  configuration model;
  std::u32string characters;    ///< of the vocabulary
  std::uint64_t text = 0;       ///< checksum of the text it was trained on
  std::int64_t iterations = 0;  ///< done so far
  std::int64_t position = 0;    ///< next character of every row
  std::vector<float> parameters, mean, variance;
  std::vector<std::vector<float>> states;  ///< as carried to the next window
};

/// FNV-1a, 64 bits.
inline std::uint64_t checksum(void const* data, std::size_t bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (std::size_t i = 0; i < bytes; ++i) hash = (hash ^ static_cast<unsigned char const*>(data)[i]) * 0x100000001b3;
  return hash;
}

namespace detail {

/// Every field, in the order in which it is stored.
template <class Archive, class Checkpoint>
void visit(Archive&& archive, Checkpoint& c) {
  auto& m = c.model;
  archive(m.cell, m.layers, m.hidden, m.embedding, m.batch, m.steps, m.learning_rate, m.clip, m.seed, c.characters,
          c.text, c.iterations, c.position, c.parameters, c.mean, c.variance, c.states);
}

inline std::string const& magic() {
  static std::string const text = "rnnopt char_lm checkpoint 1\n";
  return text;
}

/// Different characters that a text can hold, as many as a vocabulary takes.
inline bool is_vocabulary(std::u32string characters) {
  if (characters.empty() || characters.size() >= vocabulary::most_symbols) return false;
  std::sort(characters.begin(), characters.end());
  return std::all_of(characters.begin(), characters.end(), is_character) &&
         std::adjacent_find(characters.begin(), characters.end()) == characters.end();
}

/// The first field that no run can have written, by name; null if there is none. The checksum finds accidents only.
/// The sizes are left to
/// check_sizes, which knows the cell.
inline char const* wrong_field(checkpoint const& c) {
  configuration const& m = c.model;
  auto const& cells = cell_names();
  float const largest = 3e38F;
  struct field {
    char const* name;
    bool right;
  };
  field const fields[] = {
      {"cell", std::find(cells.begin(), cells.end(), m.cell) != cells.end()},
      {"layers", limits::layers.holds(m.layers)},
      {"hidden", limits::units.holds(m.hidden)},
      {"embedding", limits::units.holds(m.embedding)},
      {"batch", limits::batch.holds(m.batch)},
      {"steps", limits::steps.holds(m.steps)},
      {"learning rate", limits::is_factor(m.learning_rate)},
      {"clip", limits::is_factor(m.clip)},
      {"seed", m.seed <= std::uint64_t(limits::seed.most)},
      {"characters", is_vocabulary(c.characters)},
      {"iterations", limits::iterations_done.holds(c.iterations)},
      // Only now that those factors are known to be small.
      {"position", limits::steps.holds(m.steps) && limits::iterations_done.holds(c.iterations) && c.position >= 0 &&
                       c.position <= c.iterations * m.steps && c.position % m.steps == 0},
      {"parameters", limits::within(largest, c.parameters)},
      {"mean", limits::within(largest, c.mean)},
      {"variance", limits::within(largest, c.variance) &&
                       std::none_of(c.variance.begin(), c.variance.end(), [](float v) { return v < 0; })},
      {"states", std::all_of(c.states.begin(), c.states.end(),
                             [&](std::vector<float> const& state) { return limits::within(largest, state); })},
  };
  for (field const& f : fields)
    if (!f.right) return f.name;
  return nullptr;
}

}  // namespace detail

inline void save(checkpoint const& c, std::string const& path) {
  writer content;
  detail::visit(content, c);
  writer head;
  head(std::uint64_t(content.bytes.size()), checksum(content.bytes.data(), content.bytes.size()));
  write_bytes(path, detail::magic() + head.bytes + content.bytes);
}

/// What `load` and whoever checks the rest of a checkpoint say of a field that cannot be right.
inline user_error wrong_checkpoint(std::string const& path, std::string const& field) {
  return user_error(path + ": the checkpoint cannot be right, its " + field + " is not what a run leaves");
}

/// Whether the sizes are those that a model has; otherwise what the checkpoint says of its model may be more than any
/// memory holds.
inline void check_sizes(checkpoint const& c, std::string const& path, std::int64_t parameters, std::size_t states) {
  auto const check = [&](std::vector<float> const& values, std::int64_t size, char const* name) {
    if (static_cast<std::int64_t>(values.size()) != size) throw wrong_checkpoint(path, name);
  };
  check(c.parameters, parameters, "number of parameters");
  check(c.mean, parameters, "mean");
  check(c.variance, parameters, "variance");
  if (c.states.size() != states) throw wrong_checkpoint(path, "number of states");
  for (auto const& state : c.states) check(state, c.model.layers * c.model.batch * c.model.hidden, "states");
}

inline checkpoint load(std::string const& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::exists(path, error)) throw user_error(path + ": no such file");
  if (!fs::is_regular_file(path, error)) throw user_error(path + ": is no file");
  std::string const bytes = read_bytes(path);
  std::size_t const start = detail::magic().size() + 16;
  if (bytes.compare(0, detail::magic().size(), detail::magic()) != 0)
    throw user_error(path + ": is not a checkpoint of this program and version");
  std::uint64_t size = 0, sum = 0;
  if (bytes.size() >= start) {
    std::memcpy(&size, bytes.data() + start - 16, 8);
    std::memcpy(&sum, bytes.data() + start - 8, 8);
  }
  if (bytes.size() < start || bytes.size() - start < size) throw user_error(path + ": the checkpoint is cut short");
  std::string const content = bytes.substr(start);
  checkpoint result;
  reader fields(content);
  if (content.size() == size && checksum(content.data(), content.size()) == sum) detail::visit(fields, result);
  if (!fields.complete()) throw user_error(path + ": the checkpoint is damaged");
  if (char const* const field = detail::wrong_field(result)) throw wrong_checkpoint(path, field);
  return result;
}

}  // namespace char_lm

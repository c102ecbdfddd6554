#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "rnnopt/weights.hpp"

namespace char_lm {

/// What makes a model and its training; saved with it.
struct configuration {
  std::string cell = "lstm";
  std::int64_t layers = 2;
  std::int64_t hidden = 128;
  std::int64_t embedding = 64;
  std::int64_t batch = 32;
  std::int64_t steps = 64;
  double learning_rate = 0.01;  ///< at first, see session::train
  double clip = 1.0;
  std::uint64_t seed = 1;
};

/// Where each part lies in the one buffer of parameters, in elements from its start.
template <class Cell>
struct parameter_layout {
  std::int64_t symbols;    ///< rounded up: rows of 16 bytes serve the products better
  std::int64_t embedding;  ///< [symbols, embedding]
  std::int64_t output;     ///< [symbols, hidden]
  std::int64_t bias;       ///< [symbols]
  std::int64_t recurrent;  ///< what weight_layout says
  std::int64_t size;
  rnnopt::weight_layout<Cell> layers;

  parameter_layout(configuration const& c, std::int64_t vocabulary_size) : layers(extents_of(c, 1, 1)) {
    std::int64_t end = 0;
    auto const take = [&](std::int64_t count) {
      std::int64_t const start = end;
      end += (count + 63) / 64 * 64;
      return start;
    };
    symbols = (vocabulary_size + 3) / 4 * 4;
    embedding = take(symbols * c.embedding);
    output = take(symbols * c.hidden);
    bias = take(symbols);
    recurrent = take(layers.size());
    size = end;
  }

  static rnnopt::extents extents_of(configuration const& c, std::int64_t batch, std::int64_t steps) {
    rnnopt::extents e;
    e.layers = c.layers;
    e.input = c.embedding;
    e.hidden = c.hidden;
    e.batch = batch;
    e.steps = steps;
    return e;
  }
};

/// Fresh parameters: all uniform in +-1/sqrt(hidden), embeddings in +-1, the output bias zero, and the gate that keeps
/// the state, if the cell has one (or -1), open: its bias is raised by one.
template <class Cell>
std::vector<float> initial_parameters(parameter_layout<Cell> const& layout, configuration const& c, int keep_gate) {
  std::vector<float> values(static_cast<std::size_t>(layout.size), 0.0F);
  std::mt19937_64 random(c.seed);
  auto const fill = [&](std::int64_t start, std::int64_t count, double range) {
    for (std::int64_t i = start; i < start + count; ++i)
      values[static_cast<std::size_t>(i)] = static_cast<float>(range * (double(random() >> 11) * 0x1p-52 - 1));
  };
  double const range = 1 / std::sqrt(double(c.hidden));
  fill(layout.embedding, layout.symbols * c.embedding, 1);
  fill(layout.output, layout.symbols * c.hidden, range);
  fill(layout.recurrent, layout.layers.size(), range);
  for (std::int64_t l = 0; keep_gate >= 0 && l < c.layers; ++l)
    for (std::int64_t unit = 0; unit < c.hidden; ++unit)
      values[static_cast<std::size_t>(layout.recurrent + layout.layers.line(l).bias + keep_gate * c.hidden + unit)] +=
          1;
  return values;
}

}  // namespace char_lm

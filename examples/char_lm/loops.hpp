#pragma once

#include <cmath>
#include <cstdint>

#include "rnnopt/config.hpp"
#include "text.hpp"

/// What a model reads and predicts, and its loops over elements, for either backend.

namespace char_lm {

/// `steps` characters of every row, from `offset` on. Row b of the batch walks characters b * row .. (b + 1) * row.
struct window {
  symbol const* text;
  std::int64_t size;  ///< of the text
  std::int64_t batch;
  std::int64_t row;  ///< characters of a row
  std::int64_t offset;

  /// What the model reads; i = step * batch + row.
  RNNOPT_HD int input(std::int64_t i) const {
    std::int64_t const at = i % batch * row + offset + i / batch;
    return at < size ? text[at] : 0;
  }
  /// What it has to predict: the character after that; -1 beyond the end of the row or of the text.
  RNNOPT_HD int target(std::int64_t i) const {
    std::int64_t const in_row = offset + i / batch, at = i % batch * row + in_row + 1;
    return in_row < row && at < size ? text[at] : -1;
  }
};

/// The loops of the model; i counts elements of the array written.
namespace loops {

struct embed {
  window w;
  float const* table;  // [symbols, width]
  float* x;            // [steps, batch, width]
  std::int64_t width;
  RNNOPT_HD void operator()(std::int64_t i) const { x[i] = table[w.input(i / width) * width + i % width]; }
};

struct one_hot {
  window w;
  float* out;  // [steps, batch, symbols]
  std::int64_t symbols;
  RNNOPT_HD void operator()(std::int64_t i) const { out[i] = w.input(i / symbols) == i % symbols ? 1.0F : 0.0F; }
};

/// Row i: the loss in bits, and the logits replaced by the loss's gradient (in nats, divided by the rows).
struct cross_entropy {
  window w;
  float* logits;      // [steps, batch, symbols]
  float const* bias;  // [symbols]
  float* bits;        // [steps, batch]
  std::int64_t symbols, used;
  float scale;  // 1 / rows
  RNNOPT_HD void operator()(std::int64_t i) const {
    float* const row = logits + i * symbols;
    int const target = w.target(i);
    float largest = row[0] + bias[0], sum = 0;
    for (std::int64_t s = 0; s < used; ++s) {
      row[s] += bias[s];
      largest = row[s] > largest ? row[s] : largest;
    }
    float const wanted = target < 0 ? 0 : row[target] - largest;
    for (std::int64_t s = 0; s < used; ++s) {
      row[s] = ::expf(row[s] - largest);
      sum += row[s];
    }
    bits[i] = target < 0 ? 0 : (::logf(sum) - wanted) * 1.44269504F;
    float const factor = target < 0 ? 0 : scale / sum;
    for (std::int64_t s = 0; s < symbols; ++s) row[s] = s < used ? row[s] * factor : 0.0F;
    if (target >= 0) row[target] -= scale;
  }
};

struct add_bias {
  float* logits;  // [rows, symbols]
  float const* bias;
  std::int64_t symbols;
  RNNOPT_HD void operator()(std::int64_t i) const { logits[i] += bias[i % symbols]; }
};
struct element {
  float const* values;
  RNNOPT_HD double operator()(std::int64_t i) const { return values[i]; }
};
struct square {
  float const* values;
  RNNOPT_HD double operator()(std::int64_t i) const { return double(values[i]) * values[i]; }
};
struct constant {
  float* out;
  float value;
  RNNOPT_HD void operator()(std::int64_t i) const { out[i] = value; }
};

}  // namespace loops

}  // namespace char_lm

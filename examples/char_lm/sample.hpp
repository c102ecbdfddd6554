#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "interrupt.hpp"
#include "model.hpp"
#include "text.hpp"

namespace char_lm {

/// Draws from softmax(logits / temperature), never the symbol that stands for the left out characters; a vocabulary has
/// at least one other.
inline symbol draw(std::vector<float> const& logits, std::int64_t symbols, double temperature,
                   std::mt19937_64& random) {
  std::size_t const first = 1, count = static_cast<std::size_t>(symbols);
  double largest = logits[first], total = 0;
  for (std::size_t s = first; s < count; ++s) largest = std::max(largest, double(logits[s]));
  std::vector<double> weights(count, 0.0);
  for (std::size_t s = first; s < count; ++s) total += weights[s] = std::exp((logits[s] - largest) / temperature);
  double rest = total * (double(random() >> 11) * 0x1p-53);
  for (std::size_t s = first; s + 1 < count; ++s)
    if ((rest -= weights[s]) < 0) return static_cast<symbol>(s);
  return static_cast<symbol>(count - 1);
}

/// Prints `count` characters, each fed back as the next input, or fewer if interrupted. This is a plan of its own, one
/// row and one step, that shares the trained parameters.
template <class Backend, class Cell>
void print_sample(Backend const& on, configuration const& c, vocabulary const& v, float const* parameters,
                  std::int64_t count, double temperature, std::uint64_t seed) {
  model<Backend, Cell> one(on, c, v.size(), 1, 1, false);
  typename model<Backend, Cell>::states states(c, 1);
  typename Backend::template buffer<symbol> last(1);
  std::mt19937_64 random(seed);
  symbol s = v.symbol_of(U'\n');
  for (std::int64_t i = 0; i < count && !interrupted && !std::ferror(stdout); ++i) {
    on.upload(last, &s);
    s = draw(one.predict(window{last.data(), 1, 1, 1, 0}, parameters, states), v.size(), temperature, random);
    std::fputs(v.text_of(s).c_str(), stdout);
    std::fflush(stdout);
  }
  std::printf("\n");
}

}  // namespace char_lm

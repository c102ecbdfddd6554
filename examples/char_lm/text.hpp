#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// From bytes to numbers: decoding UTF-8, choosing the symbols, measuring and cutting the text.

namespace char_lm {

/// Whether a text may hold it: a code point that is no surrogate. Not the null character: it marks binary data.
inline bool is_character(char32_t code) { return code != 0 && code <= 0x10FFFF && (code < 0xD800 || code >= 0xE000); }

/// Appends the characters of strict UTF-8 (RFC 3629); returns the offset of the first byte that is none, if any.
inline std::optional<std::size_t> decode_utf8(std::string const& bytes, std::u32string& out) {
  std::size_t at = bytes.compare(0, 3, "\xEF\xBB\xBF") == 0 ? 3 : 0;  // a byte order mark says nothing
  while (at < bytes.size()) {
    auto const byte = [&](std::size_t i) {
      return at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0U;
    };
    unsigned const first = byte(0);
    std::size_t const length = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    char32_t code = length == 1 ? first : length == 2 ? first & 0x1F : length == 3 ? first & 0x0F : first & 0x07;
    bool valid = length != 0;
    for (std::size_t i = 1; i < length; ++i) {
      valid = valid && (byte(i) & 0xC0) == 0x80;
      code = code << 6 | (byte(i) & 0x3F);
    }
    bool const overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
    if (!valid || overlong || !is_character(code)) return at;
    out.push_back(code);
    at += length;
  }
  return std::nullopt;
}

inline std::string encode_utf8(char32_t code) {
  auto const byte = [](char32_t value) { return static_cast<char>(static_cast<unsigned char>(value)); };
  if (code < 0x80) return {byte(code)};
  if (code < 0x800) return {byte(0xC0 | code >> 6), byte(0x80 | (code & 0x3F))};
  if (code < 0x10000) return {byte(0xE0 | code >> 12), byte(0x80 | (code >> 6 & 0x3F)), byte(0x80 | (code & 0x3F))};
  return {byte(0xF0 | code >> 18), byte(0x80 | (code >> 12 & 0x3F)), byte(0x80 | (code >> 6 & 0x3F)),
          byte(0x80 | (code & 0x3F))};
}

/// A symbol: 0 stands for every character that the vocabulary leaves out.
using symbol = std::uint16_t;

/// The characters the model knows, most frequent first; symbol s > 0 is characters[s - 1].
class vocabulary {
 public:
  static constexpr std::size_t rare = 4;             ///< characters seen less often are left out
  static constexpr std::size_t most_symbols = 1024;  ///< bounds the output layer, whatever the script

  explicit vocabulary(std::u32string characters)
      : characters_(std::move(characters)), symbols_(code_points, symbol(0)) {
    for (std::size_t i = 0; i < characters_.size(); ++i) symbols_.at(characters_[i]) = static_cast<symbol>(i + 1);
  }

  static vocabulary of(std::u32string const& text) {
    std::vector<std::size_t> counts(code_points, 0);
    for (char32_t const c : text) ++counts[c];
    std::vector<std::pair<std::size_t, char32_t>> order;
    for (char32_t c = 0; c < code_points; ++c)
      if (counts[c] >= rare) order.emplace_back(counts[c], c);
    std::stable_sort(order.begin(), order.end(), [](auto const& a, auto const& b) { return a.first > b.first; });
    if (order.size() >= most_symbols) order.resize(most_symbols - 1);
    std::u32string characters;
    for (auto const& entry : order) characters.push_back(entry.second);
    return vocabulary(characters);
  }

  std::int64_t size() const { return static_cast<std::int64_t>(characters_.size()) + 1; }
  std::u32string const& characters() const { return characters_; }

  symbol symbol_of(char32_t c) const { return symbols_[c]; }
  std::string text_of(symbol s) const { return encode_utf8(s == 0 ? U'\uFFFD' : characters_[s - 1U]); }

  std::vector<symbol> encode(std::u32string const& text) const {
    std::vector<symbol> result;
    result.reserve(text.size());
    for (char32_t const c : text) result.push_back(symbol_of(c));
    return result;
  }

 private:
  static constexpr std::size_t code_points = 0x110000;

  std::u32string characters_;
  std::vector<symbol> symbols_;  ///< of every code point
};

/// Entropy of the symbol frequencies, in bits: what a model that ignores all context can reach at best. Exactly zero
/// for a single symbol.
inline double unigram_entropy(std::vector<symbol> const& text) {
  std::vector<double> counts(vocabulary::most_symbols, 0.0);
  for (symbol const s : text) ++counts[s];
  double bits = 0;
  for (double const count : counts)
    if (count > 0 && count < double(text.size())) bits -= count * std::log2(count / double(text.size()));
  return bits / double(text.size());
}

/// A text cut in two: what is trained on, and its end, held out.
struct split_text {
  std::vector<symbol> training, validation;
};

inline split_text split(std::vector<symbol> const& text) {
  std::size_t const held_out = std::min<std::size_t>(std::max<std::size_t>(text.size() / 20, 2), 50'000);
  std::size_t const cut = text.size() > held_out ? text.size() - held_out : 0;
  return {{text.begin(), text.begin() + static_cast<std::ptrdiff_t>(cut)},
          {text.begin() + static_cast<std::ptrdiff_t>(cut), text.end()}};
}

}  // namespace char_lm

#pragma once

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "error.hpp"

/// From files to numbers: reading UTF-8, choosing the symbols, measuring the text.

namespace char_lm {

/// Appends the code points of strict UTF-8 (RFC 3629); returns the offset of the first byte that is none, if any.
/// A null byte counts as one: it marks binary data.
inline std::optional<std::size_t> decode_utf8(std::string const& bytes, std::u32string& out) {
  std::size_t at = bytes.compare(0, 3, "\xEF\xBB\xBF") == 0 ? 3 : 0;  // a byte order mark says nothing
  while (at < bytes.size()) {
    auto const byte = [&](std::size_t i) {
      return at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0U;
    };
    unsigned const first = byte(0);
    std::size_t const length = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    char32_t code = length == 1 ? first : length == 2 ? first & 0x1F : length == 3 ? first & 0x0F : first & 0x07;
    bool valid = length != 0 && first != 0 && first < 0xF5;
    for (std::size_t i = 1; i < length; ++i) {
      valid = valid && (byte(i) & 0xC0) == 0x80;
      code = code << 6 | (byte(i) & 0x3F);
    }
    bool const overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
    if (!valid || overlong || (code >= 0xD800 && code < 0xE000) || code > 0x10FFFF) return at;
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

inline std::string read_bytes(std::filesystem::path const& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file) throw user_error(path.string() + ": cannot be read (" + std::strerror(errno) + ")");
  return bytes;
}

struct corpus {
  std::u32string text;
  std::size_t files = 0;
  std::size_t left_out = 0;  ///< files of a folder that are not UTF-8 text
};

/// The text files of a folder in the order of their names; hidden ones and folders named build are left out.
inline std::vector<std::filesystem::path> files_below(std::filesystem::path const& folder) {
  namespace fs = std::filesystem;
  std::vector<fs::path> files;
  auto const options = fs::directory_options::skip_permission_denied;
  for (auto entry = fs::recursive_directory_iterator(folder, options); entry != fs::recursive_directory_iterator();
       ++entry) {
    std::string const name = entry->path().filename().string();
    if (name[0] == '.' || (entry->is_directory() && name == "build")) {
      if (entry->is_directory()) entry.disable_recursion_pending();
    } else if (entry->is_regular_file()) {
      files.push_back(entry->path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Reads one file or all text files of a folder.
inline corpus read_corpus(std::string const& where) {
  namespace fs = std::filesystem;
  corpus result;
  std::error_code error;
  fs::file_status const status = fs::status(where, error);
  if (!fs::exists(status)) throw user_error(where + ": no such file or folder");
  if (fs::is_directory(status)) {
    for (fs::path const& path : files_below(where)) {
      std::size_t const size = result.text.size();
      if (decode_utf8(read_bytes(path), result.text)) result.text.resize(size), ++result.left_out;
      else ++result.files;
    }
    if (result.text.empty()) throw user_error(where + ": holds no UTF-8 text file that is not empty");
    return result;
  }
  if (!fs::is_regular_file(status)) throw user_error(where + ": is neither a file nor a folder");
  if (auto const bad = decode_utf8(read_bytes(where), result.text))
    throw user_error(where + ": is not UTF-8 text (byte " + std::to_string(*bad) + ")");
  if (result.text.empty()) throw user_error(where + ": is empty");
  result.files = 1;
  return result;
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

/// Entropy of the symbol frequencies, in bits: what a model that ignores all context can reach at best.
inline double unigram_entropy(std::vector<symbol> const& text) {
  std::vector<double> counts(vocabulary::most_symbols, 0.0);
  for (symbol const s : text) ++counts[s];
  double bits = 0;
  for (double const count : counts)
    if (count > 0) bits -= count * std::log2(count / double(text.size()));
  return bits / double(text.size());
}

}  // namespace char_lm

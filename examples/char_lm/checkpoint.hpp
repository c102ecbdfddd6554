#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <type_traits>
#include <vector>

#include "error.hpp"
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

/// Numbers as they are in memory; strings and vectors as their size and their elements.
class writer {
 public:
  std::string bytes;

  template <class... Ts>
  void operator()(Ts const&... values) {
    (put(values), ...);
  }

 private:
  template <class T>
  void put(T const& value) {
    if constexpr (std::is_arithmetic_v<T>) {
      bytes.append(reinterpret_cast<char const*>(&value), sizeof(T));
    } else {
      put(std::uint64_t(value.size()));
      for (auto const& element : value) put(element);
    }
  }
};

class reader {
 public:
  explicit reader(std::string const& bytes) : bytes_(bytes) {}

  template <class... Ts>
  void operator()(Ts&... values) {
    (take(values), ...);
  }
  bool complete() const { return valid_ && at_ == bytes_.size(); }

 private:
  template <class T>
  void take(T& value) {
    if constexpr (std::is_arithmetic_v<T>) {
      valid_ = valid_ && bytes_.size() - at_ >= sizeof(T);
      if (!valid_) return;
      std::memcpy(&value, bytes_.data() + at_, sizeof(T));
      at_ += sizeof(T);
    } else {
      std::uint64_t size = 0;
      take(size);
      valid_ = valid_ && size <= bytes_.size() - at_;  // an element has at least one byte
      if (!valid_) return;
      value.resize(size);
      for (auto& element : value) take(element);
    }
  }

  std::string const& bytes_;
  std::size_t at_ = 0;
  bool valid_ = true;
};

inline std::string const& magic() {
  static std::string const text = "rnnopt char_lm checkpoint 1\n";
  return text;
}

}  // namespace detail

/// Writes a file of its own and renames it, so that `path` holds either what it held or a whole checkpoint.
inline void save(checkpoint const& c, std::string const& path) {
  detail::writer content;
  detail::visit(content, c);
  detail::writer head;
  head(std::uint64_t(content.bytes.size()), checksum(content.bytes.data(), content.bytes.size()));
  std::string const bytes = detail::magic() + head.bytes + content.bytes;

  std::string const partial = path + ".partial." + std::to_string(::getpid());
  std::FILE* const file = std::fopen(partial.c_str(), "wbx");
  bool good = file != nullptr;
  if (file != nullptr) {
    good = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size() && std::fflush(file) == 0 &&
           ::fsync(::fileno(file)) == 0;
    good = std::fclose(file) == 0 && good;
    good = good && std::rename(partial.c_str(), path.c_str()) == 0;
  }
  if (good) return;
  std::string const reason = std::strerror(errno);
  if (file != nullptr) std::remove(partial.c_str());
  throw user_error(path + ": cannot be written (" + reason + ")");
}

/// Whether `save` can be expected to succeed; better asked before training than after.
inline void check_writable(std::string const& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path const folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : fs::path(".");
  if (!fs::is_directory(folder, error)) throw user_error(path + ": its folder does not exist");
  if (fs::is_directory(path, error)) throw user_error(path + ": is a folder");
  if (::access(folder.c_str(), W_OK) != 0) throw user_error(path + ": its folder cannot be written to");
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
  detail::reader reader(content);
  if (content.size() == size && checksum(content.data(), content.size()) == sum) detail::visit(reader, result);
  if (!reader.complete()) throw user_error(path + ": the checkpoint is damaged");
  return result;
}

}  // namespace char_lm

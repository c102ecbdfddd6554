#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

/// Values to bytes and back: numbers as they are in memory; strings and vectors as their size and their elements.

namespace char_lm {

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
      // No more memory than the bytes can fill, whatever they claim.
      using element_type = typename T::value_type;
      std::size_t const least = std::is_arithmetic_v<element_type> ? sizeof(element_type) : sizeof(std::uint64_t);
      std::uint64_t size = 0;
      take(size);
      valid_ = valid_ && size <= (bytes_.size() - at_) / least;
      if (!valid_) return;
      value.resize(size);
      for (auto& element : value) take(element);
    }
  }

  std::string const& bytes_;
  std::size_t at_ = 0;
  bool valid_ = true;
};

}  // namespace char_lm

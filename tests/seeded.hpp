#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>

namespace rnnopt_tests {

/// Random numbers from a fresh seed, which a failure prints.
struct seeded {
  unsigned seed = std::random_device{}();
  std::mt19937 random{seed};
  testing::ScopedTrace trace{__FILE__, __LINE__, "seed " + std::to_string(seed)};

  double uniform() { return std::uniform_real_distribution<double>(-1.0, 1.0)(random); }
  std::int64_t integer(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  }
};

}  // namespace rnnopt_tests

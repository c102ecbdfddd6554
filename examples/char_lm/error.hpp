#pragma once

#include <stdexcept>
#include <string>

namespace char_lm {

/// What the user can put right; main prints it as one line.
class user_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace char_lm

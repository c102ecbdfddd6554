#pragma once

#include <csignal>

namespace char_lm {

/// Set by Control-C; training and sampling then end early.
inline volatile std::sig_atomic_t interrupted = 0;

/// From now on the first Control-C sets the flag and the second ends the program: whoever presses it twice means it.
inline void catch_interrupts() {
  interrupted = 0;
  std::signal(SIGINT, [](int) {
    interrupted = 1;
    std::signal(SIGINT, SIG_DFL);
  });
}

}  // namespace char_lm

#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

namespace char_lm {

/// Seconds since it was made.
class stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(clock::now() - start_).count(); }

 private:
  using clock = std::chrono::steady_clock;
  clock::time_point start_ = clock::now();
};

/// One line that is updated on a terminal; elsewhere a line every few seconds.
class progress {
 public:
  static constexpr std::int64_t endless = std::int64_t(1) << 60;  ///< as many iterations as the limit of time allows

  progress(std::int64_t first, std::int64_t iterations, double limit, std::int64_t characters_per_iteration)
      : first_(first), iterations_(iterations), limit_(limit), characters_(characters_per_iteration) {}

  ~progress() { finish(); }

  /// `done` iterations are done, the last one with this loss.
  void report(std::int64_t done, double bits) {
    bits_ += bits;
    ++losses_;
    double const now = watch_.seconds();
    if (done < iterations_ && now - shown_ < (terminal_ ? 0.2 : 5.0)) return;
    double const left = std::min(now / double(done) * double(iterations_ - done), std::max(0.0, limit_ - now));
    std::string const of = iterations_ == endless ? "" : " of " + std::to_string(first_ + iterations_);
    std::printf("%s%lld%s iterations, %.3f bits per character, %.0f characters/s, %.0f s left%s",
                terminal_ ? "\r\033[K" : "", static_cast<long long>(first_ + done), of.c_str(), bits_ / losses_,
                double(done) * double(characters_) / now, left, terminal_ ? "" : "\n");
    std::fflush(stdout);
    shown_ = now;
    open_ = terminal_;
    bits_ = losses_ = 0;
  }

  double seconds() const { return watch_.seconds(); }

  /// Ends the line, if there is one.
  void finish() {
    if (open_) std::printf("\n");
    open_ = false;
  }

 private:
  std::int64_t first_, iterations_;
  double limit_;
  std::int64_t characters_;
  stopwatch watch_;
  bool const terminal_ = ::isatty(STDOUT_FILENO) != 0;
  bool open_ = false;
  double shown_ = 0, bits_ = 0, losses_ = 0;
};

}  // namespace char_lm

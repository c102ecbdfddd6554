#pragma once

#include <cmath>
#include <cstdint>

#include "loops.hpp"
#include "rnnopt/config.hpp"

namespace char_lm {

inline constexpr double mean_decay = 0.9, variance_decay = 0.99;

/// Adam for parameter i.
struct adam_update {
  float const* gradient;
  float const* squared_norm;
  float* mean;
  float* variance;
  float* parameters;
  float clip, rate, correction;
  RNNOPT_HD void operator()(std::int64_t i) const {
    float const norm = ::sqrtf(*squared_norm);
    float const g = gradient[i] * (norm > clip ? clip / norm : 1.0F);
    float const m = float(mean_decay) * mean[i] + float(1 - mean_decay) * g;
    float const v = float(variance_decay) * variance[i] + float(1 - variance_decay) * g * g;
    mean[i] = m;
    variance[i] = v;
    parameters[i] -= rate * m / (::sqrtf(v * correction) + 1e-8F);
  }
};

/// Adam (Kingma and Ba 2015, algorithm 1), after scaling the gradient to at most a given norm (Pascanu et al. 2013).
template <class Backend>
class adam {
 public:
  using buffer = typename Backend::template buffer<float>;

  adam(Backend const& on, std::int64_t size) : mean(size), variance(size), on_(on), squared_norm_(1) {}

  /// One step; `step` counts from 1.
  void update(std::int64_t step, double learning_rate, double clip, float const* gradient, float* parameters) {
    on_.sum(mean.size(), loops::square{gradient}, squared_norm_.data());
    on_.for_each(mean.size(), adam_update{gradient, squared_norm_.data(), mean.data(), variance.data(), parameters,
                                          float(clip), float(learning_rate / (1 - std::pow(mean_decay, double(step)))),
                                          float(1 / (1 - std::pow(variance_decay, double(step))))});
  }

  buffer mean, variance;  ///< the moments

 private:
  Backend const& on_;
  buffer squared_norm_;
};

}  // namespace char_lm

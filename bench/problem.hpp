#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "contender.hpp"
#include "shape.hpp"

#include "rnnopt/product_choice.hpp"

namespace bench {

/// Distance of each pass's results from the host oracle's, as a relative norm; empty where there is nothing to compare.
using pass_errors = std::array<std::optional<double>, timed_passes.size()>;

/// Hashes of all bits that a pass puts out; empty where nothing was hashed.
using pass_fingerprints = std::array<std::optional<std::uint64_t>, timed_passes.size()>;

/// The library under one schedule.
class library_contender : public contender {
 public:
  /// Runs every pass and compares: y of the forward passes over the first steps of the network as it is timed; dx and
  /// the weight gradients of a network that is the same but for having these first steps only. Blocks.
  virtual pass_errors errors(cudaStream_t stream) = 0;

  /// Runs the training forward and backward data as they are timed and hashes y and dx. Blocks.
  virtual pass_fingerprints fingerprints(cudaStream_t stream) = 0;
};

/// Data of one shape on the device, shared by the schedules.
class problem {
 public:
  virtual ~problem() = default;

  /// Plans the network under the schedule of that name; throws where it does not fit. Must not outlive the problem.
  virtual std::unique_ptr<library_contender> plan(std::string const& schedule, rnnopt::product_choice products) = 0;
};

/// A combination of cell and precision that this program is compiled with.
struct problem_kind {
  std::string cell;
  std::string precision;
  std::unique_ptr<problem> (*make)(shape const&, cudaStream_t);
};

}  // namespace bench

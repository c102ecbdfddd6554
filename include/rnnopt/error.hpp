#pragma once

#include <stdexcept>
#include <string>

namespace rnnopt {

/// @brief Names every precondition that the library checks before it launches anything.
enum class errc {
  extent_not_positive,      ///< layers, input or hidden is below one
  extent_negative,          ///< batch or steps is below zero
  directions_unknown,       ///< directions is neither 1 nor 2
  extent_too_large,         ///< one extent is beyond what a kernel or a product can index
  size_overflow,            ///< a size in bytes or elements does not fit in 64 bits
  null_pointer,             ///< a required pointer is null
  misaligned,               ///< a pointer is not aligned as documented
  overlapping,              ///< two buffers overlap of which one is written while the other is needed
  workspace_too_small,      ///< the workspace is shorter than workspace_bytes()
  reserve_too_small,        ///< the reserve is shorter than reserve_bytes()
  packed_too_small,         ///< the packed weights are shorter than packed_bytes()
  packed_not_read,          ///< packed weights are given, but this network reads the weights themselves
  length_out_of_range,      ///< a row's length is negative or beyond steps
  unit_parameters_missing,  ///< the cell has unit parameters, the weights have none
  wrong_device,             ///< the current device, or the stream's, is not the one of the plan
  no_device,                ///< there is no usable GPU
  not_supported,            ///< this executor, device or precision does not offer it
  does_not_fit,             ///< the schedule keeps recurrent weights on the chip, which has no room for them
  schedule_inconsistent,    ///< a schedule emitted something that cannot be run
  no_product_algorithm      ///< cuBLASLt offers no algorithm for a product of this plan
};

/// @brief A precondition that does not hold; thrown before anything is launched.
class logic_error : public std::logic_error {
 public:
  logic_error(errc code, std::string const& text) : std::logic_error(text), code_(code) {}

  /// @brief Which precondition it was.
  errc code() const noexcept { return code_; }

 private:
  errc code_;
};

namespace detail {

/// Throws with the one text form of the library: where, got, needed, hint.
[[noreturn]] inline void fail(errc code, std::string const& where, std::string const& what,
                              std::string const& hint = {}) {
  throw logic_error(code, "rnnopt: " + where + ": " + what + (hint.empty() ? "" : " (" + hint + ")"));
}

}  // namespace detail
}  // namespace rnnopt

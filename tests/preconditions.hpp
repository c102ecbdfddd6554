#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "cells/peephole_lstm.hpp"
#include "rnnopt/arguments.hpp"
#include "rnnopt/cells/lstm.hpp"
#include "rnnopt/error.hpp"
#include "rnnopt/workspace.hpp"

/// Bad calls and what has to be said about each: the code and the exact text, before anything is written. Written
/// against an adapter, so that the host and the GPU executor face the same table. An adapter is a struct with
///   template <class Cell, class Precision> using network = ...;
///   static constexpr char const* name           the executor in the texts, "host_rnn"
///   static constexpr bool lengths               whether it takes lengths (host pointers, checked)
///   static constexpr bool packed                whether its networks take packed weights
///   static network make<network>(extents)       constructs one
///   static void forward(network&, arguments), forward_training, backward_data, weight_gradient, backward
///   static void* allocate(bytes), void release(pointer)      memory the executor can use, aligned to 256 bytes
///   static void fill(pointer, unsigned char, bytes)
///   static bool holds(pointer, unsigned char, bytes)         once all work is done: is every byte that?

namespace rnnopt_tests {

/// Extents that no network can have.
struct bad_extents {
  std::string name;
  rnnopt::extents e;
  rnnopt::errc code;
  std::string text;  ///< after "rnnopt: "; begins with ": " where the executor's name stands before it
};

inline std::vector<bad_extents> const& bad_extents_table() {
  using rnnopt::errc;
  constexpr std::int64_t two_31 = std::int64_t(1) << 31, two_20 = std::int64_t(1) << 20;
  constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
  std::string const overflow = ": a size does not fit in 64 bits (use smaller extents)";
  // layers, input, hidden, batch, steps, directions
  static std::vector<bad_extents> const table = {
      {"no layers", {0, 4, 8, 3, 5, 1}, errc::extent_not_positive, ": layers is 0, needs at least 1"},
      {"negative layers", {-49, 4, 8, 3, 5, 1}, errc::extent_not_positive, ": layers is -49, needs at least 1"},
      {"no input", {2, 0, 8, 3, 5, 1}, errc::extent_not_positive, ": input is 0, needs at least 1"},
      {"negative input", {2, -4, 8, 3, 5, 1}, errc::extent_not_positive, ": input is -4, needs at least 1"},
      {"no hidden", {2, 4, 0, 3, 5, 1}, errc::extent_not_positive, ": hidden is 0, needs at least 1"},
      {"lowest hidden",
       {2, 4, lowest, 3, 5, 1},
       errc::extent_not_positive,
       ": hidden is -9223372036854775808, needs at least 1"},
      {"negative batch", {2, 4, 8, -1, 5, 1}, errc::extent_negative, ": batch is -1, needs at least 0"},
      {"negative steps", {2, 4, 8, 3, -1, 1}, errc::extent_negative, ": steps is -1, needs at least 0"},
      {"no directions", {2, 4, 8, 3, 5, 0}, errc::directions_unknown, ": directions is 0, needs 1 or 2"},
      {"three directions", {2, 4, 8, 3, 5, 3}, errc::directions_unknown, ": directions is 3, needs 1 or 2"},
      {"negative directions", {2, 4, 8, 3, 5, -1}, errc::directions_unknown, ": directions is -1, needs 1 or 2"},
      {"many layers", {two_31, 4, 8, 3, 5, 1}, errc::extent_too_large, ": layers is 2147483648, needs below 2^31"},
      {"wide input", {2, two_31, 8, 3, 5, 1}, errc::extent_too_large, ": input is 2147483648, needs below 2^31"},
      {"wide hidden", {2, 4, two_31, 3, 5, 1}, errc::extent_too_large, ": hidden is 2147483648, needs below 2^31"},
      {"large batch", {2, 4, 8, two_31, 5, 1}, errc::extent_too_large, ": batch is 2147483648, needs below 2^31"},
      {"many steps", {2, 4, 8, 3, two_31, 1}, errc::extent_too_large, ": steps is 2147483648, needs below 2^31"},
      {"states overflow",
       {2, 1, two_20, 256 * two_20, 256 * two_20, 1},
       errc::size_overflow,
       "reserve_bytes" + overflow},
      {"saved pre-activations overflow, states do not",
       {1, 4, two_20, two_20, two_20 - 1, 1},
       errc::size_overflow,
       "reserve_bytes" + overflow},
      {"input weights overflow", {1, two_31 - 1, two_31 - 1, 1, 1, 1}, errc::size_overflow, overflow},
      {"recurrent weights overflow", {1, 1, two_31 - 1, 1, 1, 1}, errc::size_overflow, overflow},
      {"x overflows", {1, two_31 - 1, 1, two_31 - 1, 1024, 1}, errc::size_overflow, overflow},
  };
  return table;
}

/// What is wrong with the answers to bad extents; empty when nothing is.
template <class Adapter>
std::vector<std::string> check_bad_extents() {
  using network = typename Adapter::template network<rnnopt::lstm, rnnopt::fp32>;
  std::vector<std::string> failures;
  for (bad_extents const& bad : bad_extents_table()) {
    std::string const text = "rnnopt: " + (bad.text[0] == ':' ? Adapter::name : std::string()) + bad.text;
    try {
      (void)Adapter::template make<network>(bad.e);
      failures.push_back(bad.name + ": accepted");
    } catch (rnnopt::logic_error const& error) {
      if (error.code() != bad.code) failures.push_back(bad.name + ": the wrong code with: " + error.what());
      if (error.what() != text) failures.push_back(bad.name + ":\n  got  " + error.what() + "\n  want " + text);
    } catch (std::exception const& error) {
      failures.push_back(bad.name + ": not a logic_error: " + error.what());
    }
  }
  return failures;
}

/// A network with valid arguments for every call, in buffers that show whether anything wrote to them.
template <class Adapter>
class bad_calls {
 public:
  using cell = cells::peephole_lstm;
  using network = typename Adapter::template network<cell, rnnopt::fp32>;
  using forward_arguments = rnnopt::forward_arguments<cell, rnnopt::fp32>;
  using backward_arguments = rnnopt::backward_arguments<cell, rnnopt::fp32>;

  bad_calls() { reset(); }

  /// Runs the whole table; what was not as it should be, empty when all was.
  std::vector<std::string> check() {
    failures_.clear();
    cases_ = 0;
    check_valid("before all bad calls");
    for (call c : {call::forward, call::forward_training}) forward_cases(c);
    for (call c : {call::backward_data, call::weight_gradient, call::backward}) backward_cases(c);
    check_valid("after all bad calls");
    return failures_;
  }
  /// How many bad calls that were.
  int cases() const { return cases_; }

 private:
  enum class call { forward, forward_training, backward_data, weight_gradient, backward };
  static constexpr unsigned char untouched = 0x5a;

  struct buffer {
    std::unique_ptr<void, void (*)(void*)> data;
    std::size_t bytes;
    unsigned char content;
  };

  float* floats(std::int64_t count, unsigned char content) { return static_cast<float*>(bytes(4 * count, content)); }
  void* bytes(std::int64_t count, unsigned char content) {
    auto const size = static_cast<std::size_t>(count);
    buffers_.push_back({{Adapter::allocate(size), Adapter::release}, size, content});
    return buffers_.back().data.get();
  }
  template <class T>
  static T* shifted(T* pointer, std::ptrdiff_t by) {
    return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(pointer) + static_cast<std::uintptr_t>(by));
  }

  /// Valid arguments; buffers are made once.
  void reset() {
    if (buffers_.empty()) {
      std::int64_t const plane = e_.lines() * e_.batch * e_.hidden;
      forward_.x = floats(e_.steps * e_.batch * e_.input, 0);
      forward_.initial.h = floats(plane, 0);
      forward_.initial.others[0] = floats(plane, 0);
      forward_.y = floats(e_.steps * e_.batch * e_.hidden, untouched);
      forward_.final.h = floats(plane, untouched);
      forward_.final.others[0] = floats(plane, untouched);
      backward_.x = forward_.x;
      backward_.dy = floats(e_.steps * e_.batch * e_.hidden, 0);
      backward_.final_gradient.h = floats(plane, 0);
      backward_.final_gradient.others[0] = floats(plane, 0);
      backward_.dx = floats(e_.steps * e_.batch * e_.input, untouched);
      backward_.initial_gradient.h = floats(plane, untouched);
      backward_.initial_gradient.others[0] = floats(plane, untouched);
      valid_weights_ = layout_.bind<float const>(floats(layout_.size(), 0));
      valid_gradients_ = layout_.bind(floats(layout_.size(), untouched));
      auto const reserve_bytes = static_cast<std::int64_t>(network_.reserve_bytes());
      // Room for a reserve that begins there: it overlaps with nothing else.
      for (rnnopt::pass p : {rnnopt::pass::inference, rnnopt::pass::training, rnnopt::pass::backward})
        workspace_[static_cast<int>(p)] = bytes(workspace_bytes(p) + reserve_bytes, untouched);
      reserve_ = bytes(reserve_bytes, untouched);
      if constexpr (Adapter::packed) packed_ = bytes(static_cast<std::int64_t>(network_.packed_bytes()), 0);
      valid_forward_ = forward_;
      valid_backward_ = backward_;
    }
    weights_ = valid_weights_;
    gradients_ = valid_gradients_;
    lengths_ = {5, 0, 3};
    forward_ = valid_forward_;
    backward_ = valid_backward_;
    forward_.weights = backward_.weights = weights_.data();
    backward_.gradients = gradients_.data();
    forward_.reserve = {reserve_, network_.reserve_bytes()};
    backward_.reserve = forward_.reserve;
    forward_.packed = backward_.packed = {packed_, network_.packed_bytes()};
    for (buffer const& b : buffers_) Adapter::fill(b.data.get(), b.content, b.bytes);
  }

  std::int64_t workspace_bytes(rnnopt::pass p) const { return static_cast<std::int64_t>(network_.workspace_bytes(p)); }
  static rnnopt::pass pass_of(call c) {
    return c == call::forward            ? rnnopt::pass::inference
           : c == call::forward_training ? rnnopt::pass::training
                                         : rnnopt::pass::backward;
  }
  static std::string name_of(call c) {
    char const* const names[] = {"forward", "forward_training", "backward_data", "weight_gradient", "backward"};
    return std::string(Adapter::name) + "::" + names[static_cast<int>(c)];
  }

  void give_workspace(call c) {
    rnnopt::pass const p = pass_of(c);
    rnnopt::memory const given{workspace_[static_cast<int>(p)], network_.workspace_bytes(p)};
    (c == call::forward || c == call::forward_training ? forward_.workspace : backward_.workspace) = given;
  }

  void run(call c) {
    switch (c) {
      case call::forward:
        return Adapter::forward(network_, forward_);
      case call::forward_training:
        return Adapter::forward_training(network_, forward_);
      case call::backward_data:
        return Adapter::backward_data(network_, backward_);
      case call::weight_gradient:
        return Adapter::weight_gradient(network_, backward_);
      case call::backward:
        return Adapter::backward(network_, backward_);
    }
  }

  bool all_untouched() const {
    for (buffer const& b : buffers_)
      if (!Adapter::holds(b.data.get(), b.content, b.bytes)) return false;
    return true;
  }

  /// The control: unspoiled, the same arguments are accepted, and the results do get written.
  void check_valid(std::string const& when) {
    reset();
    try {
      for (call c :
           {call::forward, call::forward_training, call::backward_data, call::weight_gradient, call::backward}) {
        give_workspace(c);
        run(c);
      }
    } catch (std::exception const& error) {
      failures_.push_back(when + " valid arguments are refused: " + error.what());
    }
    std::size_t const written = static_cast<std::size_t>(layout_.size()) * sizeof(float);
    if (Adapter::holds(forward_.y, untouched, 4) || Adapter::holds(backward_.dx, untouched, 4) ||
        Adapter::holds(valid_gradients_[0].input, untouched, written))
      failures_.push_back(when + " a valid call writes nothing");
  }

  /// One row of the table: `spoil` changes valid arguments, `text` is what follows "rnnopt: executor::call: ".
  void bad(call c, rnnopt::errc code, std::string const& text, std::function<void()> const& spoil) {
    ++cases_;
    reset();
    give_workspace(c);
    spoil();
    std::string const want = "rnnopt: " + name_of(c) + ": " + text;
    try {
      run(c);
      failures_.push_back("accepted: " + want);
      return;
    } catch (rnnopt::logic_error const& error) {
      if (error.code() != code) failures_.push_back(std::string("the wrong code with: ") + error.what());
      if (error.what() != want) failures_.push_back(std::string("\n  got  ") + error.what() + "\n  want " + want);
    } catch (std::exception const& error) {
      failures_.push_back("not a logic_error: " + std::string(error.what()) + "\n  want " + want);
    }
    if (!all_untouched()) failures_.push_back("something was written before: " + want);
  }

  /// Pointers that are off by `by` bytes.
  template <class T>
  void misaligned(call c, std::string const& name, int alignment, T*& pointer, std::ptrdiff_t by) {
    bad(c, rnnopt::errc::misaligned, name + " is not aligned to " + std::to_string(alignment) + " bytes",
        [&] { pointer = shifted(pointer, by); });
  }

  void weight_cases(call c, rnnopt::line_weights<float const> const*& weights) {
    using rnnopt::errc;
    auto& w = weights_;
    bad(c, errc::null_pointer, "weights is null, needs an array of line_weights", [&] { weights = nullptr; });
    bad(c, errc::null_pointer, "weights[0].input is null, needs a buffer", [&] { w[0].input = nullptr; });
    bad(c, errc::null_pointer, "weights[1].input is null, needs a buffer", [&] { w[1].input = nullptr; });
    bad(c, errc::null_pointer, "weights[0].recurrent is null, needs a buffer", [&] { w[0].recurrent = nullptr; });
    bad(c, errc::null_pointer, "weights[1].recurrent is null, needs a buffer", [&] { w[1].recurrent = nullptr; });
    bad(c, errc::unit_parameters_missing,
        "weights[1].units is null, the cell has unit parameters (give [unit_parameters, hidden])",
        [&] { w[1].units = nullptr; });
    misaligned(c, "weights[0].input", 16, w[0].input, 4);
    misaligned(c, "weights[1].recurrent", 16, w[1].recurrent, 8);
    misaligned(c, "weights[1].bias", 4, w[1].bias, 2);
    misaligned(c, "weights[0].units", 4, w[0].units, 1);
  }

  void scratch_cases(call c, std::string const& name, rnnopt::errc too_small, std::size_t needed,
                     std::function<void(std::ptrdiff_t shift, bool null, std::size_t bytes)> const& give) {
    std::string const needs = " bytes, needs " + std::to_string(needed) + " (see " + name + "_bytes())";
    for (std::size_t given : {needed - 1, needed / 2, std::size_t(0)})
      bad(c, too_small, name + " has " + std::to_string(given) + needs, [&] { give(0, false, given); });
    bad(c, rnnopt::errc::null_pointer, name + " is null, needs a buffer", [&] { give(0, true, needed); });
    bad(c, rnnopt::errc::misaligned, name + " is not aligned to 16 bytes", [&] { give(8, false, needed); });
  }

  /// `written` is a buffer of the same call, and what it is called.
  void packed_cases(call c, rnnopt::const_memory& packed, std::string const& name, void const* written) {
    using rnnopt::errc;
    if constexpr (Adapter::packed) {
      scratch_cases(c, "packed", errc::packed_too_small, network_.packed_bytes(),
                    [&](std::ptrdiff_t shift, bool null, std::size_t size) {
                      packed = {null ? nullptr : static_cast<char*>(packed_) + shift, size};
                    });
      bad(c, errc::overlapping, "packed and " + name + " overlap (give each its own buffer)",
          [&] { packed.data = written; });
    } else {
      std::string const text =
          "packed is given, this network reads the weights themselves (leave it null where packed_bytes() is 0)";
      bad(c, errc::packed_not_read, text, [&] { packed = {reserve_, 16}; });
      bad(c, errc::packed_not_read, text, [&] { packed.bytes = 1; });
    }
  }

  void length_cases(call c, std::int32_t const*& lengths) {
    if constexpr (Adapter::lengths) {
      using rnnopt::errc;
      auto const spoil = [&](std::size_t row, std::int32_t length) {
        lengths_[row] = length, lengths = lengths_.data();
      };
      bad(c, errc::length_out_of_range, "lengths[1] is -1, needs 0 to 5", [&] { spoil(1, -1); });
      bad(c, errc::length_out_of_range, "lengths[2] is 6, needs 0 to 5", [&] { spoil(2, 6); });
      bad(c, errc::length_out_of_range, "lengths[0] is -2147483648, needs 0 to 5",
          [&] { spoil(0, std::numeric_limits<std::int32_t>::min()); });
      bad(c, errc::misaligned, "lengths is not aligned to 4 bytes", [&] { lengths = shifted(lengths_.data(), 2); });
    }
  }

  void forward_cases(call c) {
    using rnnopt::errc;
    auto& a = forward_;
    weight_cases(c, a.weights);
    bad(c, errc::null_pointer, "x is null, needs a buffer", [&] { a.x = nullptr; });
    misaligned(c, "x", 16, a.x, 4);
    misaligned(c, "y", 4, a.y, 1);
    misaligned(c, "initial.h", 4, a.initial.h, 2);
    misaligned(c, "initial.others[0]", 4, a.initial.others[0], 3);
    misaligned(c, "final.h", 4, a.final.h, 1);
    misaligned(c, "final.others[0]", 4, a.final.others[0], 2);
    scratch_cases(c, "workspace", errc::workspace_too_small, network_.workspace_bytes(pass_of(c)),
                  [&](std::ptrdiff_t shift, bool null, std::size_t size) {
                    a.workspace = {null ? nullptr : static_cast<char*>(a.workspace.data) + shift, size};
                  });
    packed_cases(c, a.packed, "y", a.y);
    if (c == call::forward_training)
      scratch_cases(c, "reserve", errc::reserve_too_small, network_.reserve_bytes(),
                    [&](std::ptrdiff_t shift, bool null, std::size_t size) {
                      a.reserve = {null ? nullptr : static_cast<char*>(reserve_) + shift, size};
                    });
    bad(c, errc::overlapping, "x and y overlap (give each its own buffer)", [&] { a.y = const_cast<float*>(a.x); });
    bad(c, errc::overlapping, "y and final.h overlap (give each its own buffer)", [&] { a.final.h = a.y; });
    bad(c, errc::overlapping, "final.h and final.others[0] overlap (give each its own buffer)",
        [&] { a.final.others[0] = a.final.h; });
    bad(c, errc::overlapping, "initial.h and y overlap (give each its own buffer)",
        [&] { a.y = const_cast<float*>(a.initial.h); });
    bad(c, errc::overlapping, "weights[1].input and y overlap (give each its own buffer)",
        [&] { a.y = const_cast<float*>(weights_[1].input); });
    bad(c, errc::overlapping, "y and workspace overlap (give each its own buffer)",
        [&] { a.y = static_cast<float*>(a.workspace.data); });
    if (c == call::forward_training)
      bad(c, errc::overlapping, "workspace and reserve overlap (give each its own buffer)",
          [&] { a.reserve.data = a.workspace.data; });
    length_cases(c, a.lengths);
  }

  void backward_cases(call c) {
    using rnnopt::errc;
    auto& a = backward_;
    weight_cases(c, a.weights);
    misaligned(c, "dy", 4, a.dy, 2);
    misaligned(c, "dx", 16, a.dx, 4);
    misaligned(c, "final_gradient.h", 4, a.final_gradient.h, 1);
    misaligned(c, "final_gradient.others[0]", 4, a.final_gradient.others[0], 2);
    misaligned(c, "initial_gradient.h", 4, a.initial_gradient.h, 3);
    misaligned(c, "initial_gradient.others[0]", 4, a.initial_gradient.others[0], 1);
    if (c != call::backward_data) {
      bad(c, errc::null_pointer,
          "gradients is null, needs an array of line_weights (call backward_data where no weight gradient is wanted)",
          [&] { a.gradients = nullptr; });
      bad(c, errc::null_pointer, "x is null, needs a buffer", [&] { a.x = nullptr; });
      misaligned(c, "x", 16, a.x, 8);
      misaligned(c, "gradients[0].input", 16, gradients_[0].input, 4);
      misaligned(c, "gradients[1].recurrent", 16, gradients_[1].recurrent, 8);
      misaligned(c, "gradients[0].bias", 4, gradients_[0].bias, 1);
      misaligned(c, "gradients[1].units", 4, gradients_[1].units, 2);
    }
    scratch_cases(c, "workspace", errc::workspace_too_small, network_.workspace_bytes(rnnopt::pass::backward),
                  [&](std::ptrdiff_t shift, bool null, std::size_t size) {
                    a.workspace = {null ? nullptr : static_cast<char*>(a.workspace.data) + shift, size};
                  });
    packed_cases(c, a.packed, "dx", a.dx);
    scratch_cases(c, "reserve", errc::reserve_too_small, network_.reserve_bytes(),
                  [&](std::ptrdiff_t shift, bool null, std::size_t size) {
                    a.reserve = {null ? nullptr : static_cast<char*>(reserve_) + shift, size};
                  });
    bad(c, errc::overlapping, "initial_gradient.h and reserve overlap (give each its own buffer)",
        [&] { a.initial_gradient.h = static_cast<float*>(reserve_); });
    bad(c, errc::overlapping, "initial_gradient.h and initial_gradient.others[0] overlap (give each its own buffer)",
        [&] { a.initial_gradient.others[0] = a.initial_gradient.h; });
    if (c != call::backward_data) {
      bad(c, errc::overlapping, "gradients[0].recurrent and gradients[1].recurrent overlap (give each its own buffer)",
          [&] { gradients_[1].recurrent = gradients_[0].recurrent; });
      bad(c, errc::overlapping, "gradients[0].bias and workspace overlap (give each its own buffer)",
          [&] { gradients_[0].bias = static_cast<float*>(a.workspace.data); });
    }
    bad(c, errc::overlapping, "dy and dx overlap (give each its own buffer)", [&] { a.dx = const_cast<float*>(a.dy); });
    bad(c, errc::overlapping, "x and dx overlap (give each its own buffer)", [&] { a.dx = const_cast<float*>(a.x); });
    bad(c, errc::overlapping, "workspace and reserve overlap (give each its own buffer)",
        [&] { a.reserve.data = a.workspace.data; });
    length_cases(c, a.lengths);
  }

  // Rows of x, W and R are multiples of 16 bytes, so that alignment to 16 is what they need.
  rnnopt::extents const e_{2, 4, 8, 3, 5, 1};
  network network_ = Adapter::template make<network>(e_);
  rnnopt::weight_layout<cell> const layout_{e_};
  std::vector<buffer> buffers_;
  void* workspace_[3] = {};
  void* reserve_ = nullptr;
  void* packed_ = nullptr;
  std::vector<rnnopt::line_weights<float const>> valid_weights_, weights_;
  std::vector<rnnopt::line_weights<float>> valid_gradients_, gradients_;
  std::vector<std::int32_t> lengths_;
  forward_arguments valid_forward_, forward_;
  backward_arguments valid_backward_, backward_;
  std::vector<std::string> failures_;
  int cases_ = 0;
};

}  // namespace rnnopt_tests

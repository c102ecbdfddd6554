#include "preconditions.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include <gtest/gtest.h>

#include "rnnopt/host_rnn.hpp"
#include "rnnopt/schedules/stepwise.hpp"

namespace {

struct host_adapter {
  template <class Cell, class Precision>
  using network = rnnopt::host_rnn<Cell, Precision, rnnopt::schedules::stepwise<>>;
  static constexpr char const* name = "host_rnn";
  static constexpr bool lengths = true;
  static constexpr bool packed = false;

  template <class Network>
  static Network make(rnnopt::extents const& e) {
    return Network(e);
  }
  template <class Network, class Arguments>
  static void forward(Network& net, Arguments const& a) {
    net.forward(a);
  }
  template <class Network, class Arguments>
  static void forward_training(Network& net, Arguments const& a) {
    net.forward_training(a);
  }
  template <class Network, class Arguments>
  static void backward_data(Network& net, Arguments const& a) {
    net.backward_data(a);
  }
  template <class Network, class Arguments>
  static void weight_gradient(Network& net, Arguments const& a) {
    net.weight_gradient(a);
  }
  template <class Network, class Arguments>
  static void backward(Network& net, Arguments const& a) {
    net.backward(a);
  }
  static void* allocate(std::size_t bytes) { return std::aligned_alloc(256, (bytes + 255) / 256 * 256); }
  static void release(void* pointer) { std::free(pointer); }
  static void fill(void* pointer, unsigned char content, std::size_t bytes) { std::memset(pointer, content, bytes); }
  static bool holds(void const* pointer, unsigned char content, std::size_t bytes) {
    auto const* const first = static_cast<unsigned char const*>(pointer);
    return std::all_of(first, first + bytes, [&](unsigned char byte) { return byte == content; });
  }
};

TEST(preconditions, bad_extents_are_named) {
  for (std::string const& failure : rnnopt_tests::check_bad_extents<host_adapter>()) ADD_FAILURE() << failure;
}

// Each array of the caller's and the weights fit; what the library would need does not.
TEST(preconditions, a_workspace_beyond_64_bits_is_named) {
  rnnopt::extents const e{1, 1, 1 << 20, 1 << 20, 576717, 1};
  try {
    rnnopt::host_rnn<rnnopt::lstm, rnnopt::fp16, rnnopt::schedules::stepwise<>> const net(e);
    ADD_FAILURE() << "accepted";
  } catch (rnnopt::logic_error const& error) {
    EXPECT_EQ(error.code(), rnnopt::errc::size_overflow);
    EXPECT_STREQ(error.what(), "rnnopt: workspace_bytes: a size does not fit in 64 bits (use smaller extents)");
  }
}

TEST(preconditions, bad_layouts_are_named) {
  try {
    rnnopt::weight_layout<rnnopt::lstm> const layout({1, 2147483647, 2147483647, 1, 1, 1});
    ADD_FAILURE() << "accepted";
  } catch (rnnopt::logic_error const& error) {
    EXPECT_EQ(error.code(), rnnopt::errc::size_overflow);
    EXPECT_STREQ(error.what(), "rnnopt: weight_layout: a size does not fit in 64 bits (use smaller extents)");
  }
  try {
    rnnopt::weight_layout<rnnopt::lstm> const layout({1, 4, -8, 1, 1, 1});
    ADD_FAILURE() << "accepted";
  } catch (rnnopt::logic_error const& error) {
    EXPECT_EQ(error.code(), rnnopt::errc::extent_not_positive);
    EXPECT_STREQ(error.what(), "rnnopt: weight_layout: hidden is -8, needs at least 1");
  }
}

TEST(preconditions, bad_calls_are_named_and_write_nothing) {
  rnnopt_tests::bad_calls<host_adapter> table;
  for (std::string const& failure : table.check()) ADD_FAILURE() << failure;
  EXPECT_GE(table.cases() + static_cast<int>(rnnopt_tests::bad_extents_table().size()), 100);
  std::printf("%d bad calls\n", table.cases());
}

}  // namespace

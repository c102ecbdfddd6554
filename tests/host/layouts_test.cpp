// Where everything lies: gate blocks, weights, workspace and reserve, each against a formula written down here.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "all_cells.hpp"
#include "host_reference.hpp"

namespace {

using namespace rnnopt_tests;
using rnnopt::extents;
using rnnopt::feed;

TEST(gates, blocks_follow_the_list) {
  using lstm = rnnopt::lstm::gates;
  static_assert(lstm::count == 4 && lstm::input_count == 4 && lstm::recurrent_count == 4 && lstm::same_rows);
  using gru = rnnopt::gru::gates;
  static_assert(gru::count == 4 && gru::input_count == 3 && gru::recurrent_count == 3 && !gru::same_rows);
  static_assert(gru::input_block(0) == 0 && gru::input_block(2) == 2 && gru::input_block(3) == -1);
  static_assert(gru::recurrent_block(1) == 1 && gru::recurrent_block(2) == -1 && gru::recurrent_block(3) == 2);
  using indrnn = cells::indrnn::gates;
  static_assert(indrnn::count == 1 && indrnn::input_count == 1 && indrnn::recurrent_count == 0 && !indrnn::same_rows);
  using mixed = rnnopt::gates<feed::recurrent, feed::both, feed::input, feed::both, feed::recurrent>;
  static_assert(mixed::count == 5 && mixed::input_count == 3 && mixed::recurrent_count == 4);
  int const input[] = {-1, 0, 1, 2, -1}, recurrent[] = {0, 1, -1, 2, 3};
  for (int g = 0; g < 5; ++g) {
    EXPECT_EQ(mixed::input_block(g), input[g]);
    EXPECT_EQ(mixed::recurrent_block(g), recurrent[g]);
  }
  static_assert(mixed::of(2) == feed::input);
}

/// Gates fed by W, by R, all gates, states, unit parameters: from the cells' equations, not from their declarations.
struct counts {
  std::int64_t input, recurrent, gates, states, units;
};
template <class Cell>
constexpr counts counts_of{};
template <>
constexpr counts counts_of<rnnopt::lstm> = {4, 4, 4, 2, 0};
template <>
constexpr counts counts_of<rnnopt::gru> = {3, 3, 4, 1, 0};
template <>
constexpr counts counts_of<vanilla_relu> = {1, 1, 1, 1, 0};
template <>
constexpr counts counts_of<cells::minimal_gated_unit> = {2, 2, 3, 1, 0};
template <>
constexpr counts counts_of<cells::peephole_lstm> = {4, 4, 4, 2, 3};
template <>
constexpr counts counts_of<cells::coupled_lstm> = {3, 3, 3, 2, 0};
template <>
constexpr counts counts_of<cells::indrnn> = {1, 0, 1, 1, 1};
template <>
constexpr counts counts_of<cells::slstm> = {4, 4, 4, 4, 0};

template <class Cell>
struct layout : testing::Test {};
using every_cell = testing::Types<rnnopt::lstm, rnnopt::gru, vanilla_relu, cells::minimal_gated_unit,
                                  cells::peephole_lstm, cells::coupled_lstm, cells::indrnn, cells::slstm>;
TYPED_TEST_SUITE(layout, every_cell);

std::vector<extents> const shapes = {{1, 1, 1, 1, 1, 1},      {1, 4, 6, 3, 5, 1}, {2, 3, 33, 5, 7, 2},
                                     {3, 96, 512, 64, 20, 1}, {2, 4, 6, 0, 5, 2}, {2, 4, 6, 3, 0, 1}};

TYPED_TEST(layout, weights_are_line_after_line_without_gaps) {
  counts const c = counts_of<TypeParam>;
  for (extents const& e : shapes) {
    rnnopt::weight_layout<TypeParam> const layout(e);
    std::int64_t at = 0;
    std::vector<float> buffer(1);
    auto const bound = layout.bind(buffer.data());
    ASSERT_EQ(std::int64_t(bound.size()), e.layers * e.directions);
    for (std::int64_t layer = 0; layer < e.layers; ++layer)
      for (std::int64_t direction = 0; direction < e.directions; ++direction) {
        std::int64_t const inputs = layer == 0 ? e.input : e.directions * e.hidden,
                           i = layer * e.directions + direction;
        EXPECT_EQ(layout.line(i).input, at);
        EXPECT_EQ(layout.line(i).recurrent, at += c.input * e.hidden * inputs);
        EXPECT_EQ(layout.line(i).bias, at += c.recurrent * e.hidden * e.hidden);
        EXPECT_EQ(layout.line(i).units, at += c.gates * e.hidden);
        EXPECT_EQ(layout.line(i).end, at += c.units * e.hidden);
        auto const& line = bound[std::size_t(i)];
        EXPECT_EQ(line.input - buffer.data(), layout.line(i).input);
        EXPECT_EQ(line.recurrent - buffer.data(), layout.line(i).recurrent);
        EXPECT_EQ(line.bias - buffer.data(), layout.line(i).bias);
        if (c.units > 0) EXPECT_EQ(line.units - buffer.data(), layout.line(i).units);
        else EXPECT_EQ(line.units, nullptr);
      }
    EXPECT_EQ(layout.size(), at);
    EXPECT_ANY_THROW(layout.line(e.layers * e.directions));
    EXPECT_ANY_THROW(layout.line(-1));
  }
}

std::int64_t up(std::int64_t bytes) { return (bytes + 255) / 256 * 256; }

template <class Cell, class Precision>
void check_sizes(std::int64_t storage, std::int64_t accumulate, std::int64_t state) {
  counts const c = counts_of<Cell>;
  for (extents const& e : shapes) {
    rnnopt::host_rnn<Cell, Precision, rnnopt::schedules::stepwise<>> const net(e);
    std::int64_t const lines = e.layers * e.directions, plane = e.batch * e.hidden, others = c.states - 1;
    std::int64_t const reserve = up(lines * (e.steps + 1) * plane * storage) +
                                 others * up(lines * (e.steps + 1) * plane * state) +
                                 up(lines * e.steps * plane * c.gates * storage);
    std::int64_t const training =
        up(e.directions * e.steps * plane * c.input * accumulate) + up(lines * plane * c.recurrent * accumulate);
    std::int64_t const inference =
        training + up(lines * (e.steps + 1) * plane * storage) + others * up(lines * plane * state);
    bool const one_buffer = c.input == c.gates && c.recurrent == c.gates;
    std::int64_t const backward = up(lines * e.steps * plane * c.input * storage) +
                                  (one_buffer ? 0 : up(lines * e.steps * plane * c.recurrent * storage)) +
                                  up(lines * c.states * plane * accumulate) + up(lines * plane * accumulate) +
                                  up(lines * c.units * plane * accumulate) +
                                  up((e.layers - 1) * e.steps * plane * e.directions * storage);
    EXPECT_EQ(std::int64_t(net.reserve_bytes()), reserve);
    EXPECT_EQ(std::int64_t(net.workspace_bytes(rnnopt::pass::training)), training);
    EXPECT_EQ(std::int64_t(net.workspace_bytes(rnnopt::pass::inference)), inference);
    EXPECT_EQ(std::int64_t(net.workspace_bytes(rnnopt::pass::backward)), backward);
  }
}
TYPED_TEST(layout, workspace_and_reserve_are_closed_formulas) {
  check_sizes<TypeParam, rnnopt::fp32>(4, 4, 4);
  check_sizes<TypeParam, rnnopt::fp16>(2, 4, 4);
  check_sizes<TypeParam, rnnopt::fp64>(8, 8, 8);
}

TYPED_TEST(layout, packed_weights_are_line_after_line_at_multiples_of_256_bytes) {
  counts const c = counts_of<TypeParam>;
  for (extents const& e : shapes) {
    rnnopt::detail::packed_layout const packed(e, rnnopt::detail::shape_of<TypeParam>(),
                                               rnnopt::detail::sizes_of<rnnopt::fp16>());
    std::int64_t at = 0;
    for (std::int64_t i = 0; i < e.layers * e.directions; ++i) {
      std::int64_t const inputs = i < e.directions ? e.input : e.directions * e.hidden;
      EXPECT_EQ(packed.input(i), at);
      EXPECT_EQ(packed.recurrent(i), at += up(inputs * c.input * e.hidden * 2));
      at += up(e.hidden * c.recurrent * e.hidden * 2);
    }
    EXPECT_EQ(packed.bytes, at);
  }
}

TYPED_TEST(layout, scratch_of_an_executor_is_added_for_each_lane) {
  counts const c = counts_of<TypeParam>;
  rnnopt::cell_shape const cell = rnnopt::detail::shape_of<TypeParam>();
  rnnopt::detail::element_sizes const sizes = rnnopt::detail::sizes_of<rnnopt::fp16>();
  for (extents const& e : shapes) {
    rnnopt::detail::network_layouts const none(e, cell, sizes, 1, {}), some(e, cell, sizes, 1, {3, 1000, 7, 5});
    std::int64_t const slots = up(3 * 5 * e.batch * e.hidden * 4);
    // The start of the products' scratch may move by up to 256 bytes.
    std::int64_t const forward = slots + up(3 * 1000) + 256;
    for (rnnopt::pass const p : {rnnopt::pass::inference, rnnopt::pass::training})
      EXPECT_EQ(std::int64_t(some.workspace_bytes(p)) - std::int64_t(none.workspace_bytes(p)), forward);
    EXPECT_EQ(some.backward.bytes - none.backward.bytes, forward + up(3 * 7 * c.gates * e.hidden * 4));
    EXPECT_EQ(some.reserve_bytes(), none.reserve_bytes());
    for (auto const* layout : {&some.inference, &some.training})
      EXPECT_EQ(layout->product_scratch - layout->elementwise_slots, slots);
    EXPECT_EQ(some.backward.product_scratch - some.backward.elementwise_slots, slots);
  }
}

TEST(sizes, are_exact_beyond_32_bits) {
  rnnopt::host_rnn<rnnopt::lstm, rnnopt::fp32, rnnopt::schedules::stepwise<>> const net(
      {8, 4096, 4096, 1024, 10000, 1});
  std::int64_t const plane = std::int64_t(4096) * 1024;
  EXPECT_EQ(net.reserve_bytes(), std::size_t(8 * (2 * 10001 + 4 * 10000) * plane * 4));
  EXPECT_EQ(rnnopt::weight_layout<rnnopt::lstm>({1, 1 << 17, 1 << 17, 1, 1, 1}).size(),
            (std::int64_t(1) << 37) + (std::int64_t(1) << 19));
}

TEST(schedules, are_asked_for_their_concurrent_layers) {
  struct wide : rnnopt::schedules::stepwise<> {
    static std::int64_t concurrent_layers(rnnopt::network const& n) { return n.layers + 5; }
  };
  extents const e{3, 4, 6, 3, 5, 1};
  rnnopt::host_rnn<rnnopt::lstm, rnnopt::fp32, rnnopt::schedules::stepwise<>> const narrow(e);
  rnnopt::host_rnn<rnnopt::lstm, rnnopt::fp32, wide> const net(e);
  std::int64_t const one = 5 * 3 * 6 * 4 * 4;  // a layer's input products
  EXPECT_EQ(std::int64_t(net.workspace_bytes(rnnopt::pass::training)) -
                std::int64_t(narrow.workspace_bytes(rnnopt::pass::training)),
            up(3 * one) - up(one));
}

/// Which saved pre-activations are not zero when all weights are zero but one: {gate, unit} of row 0, time 0.
template <class Cell>
std::set<std::pair<std::int64_t, std::int64_t>> touched_by(std::int64_t weight, extents const& e) {
  random_network<Cell, rnnopt::fp64> numbers(e);
  numbers.x.assign(numbers.x.size(), 1);
  numbers.h.assign(numbers.h.size(), 1);
  numbers.weights.assign(numbers.weights.size(), 0);
  numbers.weights[std::size_t(weight)] = 1;
  host_run<Cell, rnnopt::fp64> run(numbers);
  run.train();
  std::int64_t const plane = e.batch * e.hidden, others = Cell::states - 1;
  std::int64_t const offset = (1 + others) * up(e.lines() * (e.steps + 1) * plane * 8);
  auto const* const saved = reinterpret_cast<double const*>(run.reserve.data() + offset);
  std::set<std::pair<std::int64_t, std::int64_t>> result;
  for (std::int64_t g = 0; g < Cell::gates::count; ++g)
    for (std::int64_t unit = 0; unit < e.hidden; ++unit)
      if (saved[g * e.hidden + unit] != 0) result.insert({g, unit});
  return result;
}

template <class Cell>
void one_weight_at_a_time(std::vector<int> const& input_gates, std::vector<int> const& recurrent_gates) {
  extents const e{1, 2, 3, 1, 1, 1};
  using wanted = std::set<std::pair<std::int64_t, std::int64_t>>;
  std::int64_t at = 0;
  for (int const gate : input_gates)
    for (std::int64_t row = 0; row < e.hidden; ++row)
      for (std::int64_t column = 0; column < e.input; ++column, ++at)
        EXPECT_EQ(touched_by<Cell>(at, e), (wanted{{gate, row}})) << at;
  for (int const gate : recurrent_gates)
    for (std::int64_t row = 0; row < e.hidden; ++row)
      for (std::int64_t column = 0; column < e.hidden; ++column, ++at)
        EXPECT_EQ(touched_by<Cell>(at, e), (wanted{{gate, row}})) << at;
  for (int gate = 0; gate < Cell::gates::count; ++gate)
    for (std::int64_t row = 0; row < e.hidden; ++row, ++at)
      EXPECT_EQ(touched_by<Cell>(at, e), (wanted{{gate, row}})) << at;
}
TEST(weights, each_one_feeds_its_gate_alone) {
  one_weight_at_a_time<rnnopt::lstm>({0, 1, 2, 3}, {0, 1, 2, 3});
  one_weight_at_a_time<rnnopt::gru>({0, 1, 2}, {0, 1, 3});
  one_weight_at_a_time<cells::minimal_gated_unit>({0, 1}, {0, 2});
  one_weight_at_a_time<cells::indrnn>({0}, {});
}

}  // namespace

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "all_cells.hpp"
#include "network_cases.cuh"
#include "rnnopt/schedules/cluster.hpp"
#include "sweep_pieces.hpp"

/// All steps in one kernel, R on the chip of a cluster: the precisions of the matrix units, one cell of each kind.

namespace rnnopt_tests {

using rnnopt::schedules::cluster;
using cluster_cells = testing::Types<
    network_case<rnnopt::lstm, rnnopt::fp16, cluster>, network_case<rnnopt::lstm, rnnopt::bf16, cluster>,
    network_case<rnnopt::lstm, rnnopt::tf32, cluster>, network_case<rnnopt::gru, rnnopt::fp16, cluster>,
    network_case<cells::peephole_lstm, rnnopt::bf16, cluster>, network_case<cells::indrnn, rnnopt::fp32, cluster>,
    network_case<cells::slstm, rnnopt::fp16, cluster>, network_case<vanilla_relu, rnnopt::fp16, cluster>>;
INSTANTIATE_TYPED_TEST_SUITE_P(cluster_cells, network, cluster_cells);

/// Sweeps that begin where others end.
using cluster_pieces = testing::Types<network_case<rnnopt::gru, rnnopt::bf16, pieces<3>>>;
INSTANTIATE_TYPED_TEST_SUITE_P(cluster_pieces, network, cluster_pieces);

namespace {

rnnopt::extents extents_of(std::int64_t steps, std::int64_t batch, std::int64_t hidden) {
  rnnopt::extents e;
  e.layers = 1;
  e.input = 8;
  e.hidden = hidden;
  e.batch = batch;
  e.steps = steps;
  return e;
}

template <class Cell, class Precision>
void expect_fits(std::vector<std::int64_t> const& hidden) {
  for (std::int64_t h : hidden)
    for (std::int64_t batch : {1, 17, 65})
      EXPECT_EQ((rnnopt::rnn<Cell, Precision, cluster>::misfit(extents_of(4, batch, h))), "") << h << ", " << batch;
}

/// What the suites above run, which they would otherwise take as refused, and the widest that cells of each kind have.
TEST(cluster, what_has_to_fit) {
  expect_fits<rnnopt::lstm, rnnopt::fp16>({1, 6, 33, 130, 136, 256, 333, 512, 513, 768});
  expect_fits<rnnopt::lstm, rnnopt::bf16>({1, 6, 33, 130, 136, 256, 333, 512, 768});
  expect_fits<rnnopt::lstm, rnnopt::tf32>({1, 6, 33, 130, 136, 333, 512});
  expect_fits<rnnopt::gru, rnnopt::fp16>({1, 6, 33, 130, 136, 333, 512, 768});
  expect_fits<cells::peephole_lstm, rnnopt::bf16>({1, 6, 33, 130, 136, 333, 512});
  expect_fits<cells::indrnn, rnnopt::fp32>({1, 6, 33, 512, 1000});
  expect_fits<cells::slstm, rnnopt::fp16>({1, 6, 33, 130, 136, 333, 512});
  expect_fits<vanilla_relu, rnnopt::fp16>({1, 6, 33, 130, 136, 333, 512, 1000, 1024});
  expect_fits<rnnopt::gru, rnnopt::bf16>({1, 6, 33, 130, 136, 333, 512});
}

TEST(cluster, what_cannot_fit) {
  EXPECT_EQ((rnnopt::rnn<rnnopt::lstm, rnnopt::fp16, cluster>::misfit(extents_of(4, 1, 4096))),
            "no cluster of up to 16 blocks can run the sweep forward: R of hidden 4096 is 134217728 bytes, in 4 row "
            "blocks; the widest kernel takes hidden 768");
  EXPECT_EQ((rnnopt::rnn<rnnopt::lstm, rnnopt::fp64, cluster>::misfit(extents_of(4, 1, 8))),
            "sweeps of a cluster multiply on the matrix units, which this precision does without");
  using of_the_grid = pieces<3, rnnopt::team::grid>;
  EXPECT_EQ((rnnopt::rnn<rnnopt::lstm, rnnopt::fp16, of_the_grid>::misfit(extents_of(4, 1, 8))),
            "sweeps of the whole GPU are not offered yet");
}

template <class Cell>
void expect_right(rnnopt::extents const& e) {
  random_network<Cell, rnnopt::fp16> const host(e);
  SCOPED_TRACE(host.description());
  device_network<Cell, rnnopt::fp16, cluster> device(host);
  device.plan().forward_training(nullptr, device.forward_arguments(true));
  device.plan().backward(nullptr, device.backward_arguments());
  auto const got = device.fetch();
  std::vector<char> reserve(device.reserve().bytes());
  device.reserve().fetch(reserve);
  for (std::string const& failure : differences<cluster>(host, got, reserve)) ADD_FAILURE() << failure;
  EXPECT_EQ(device.first_damaged(), -1) << "wrote beyond a buffer";
}

/// Every compiled shape (on an H200), with few and many rows a cluster, whole tiles of rows and one more, more than the
/// GPU takes at once, and sequences of a few steps, since buffers serve in turn.
TEST(cluster, every_shape) {
  for (std::int64_t steps : {1, 2, 3, 6}) {
    for (std::int64_t batch : {1, 2, 15, 31, 120, 121, 200, 240, 241, 500})
      expect_right<rnnopt::lstm>(extents_of(steps, batch, 48));
    for (std::int64_t batch : {1, 13, 48, 57, 100, 112, 113}) expect_right<rnnopt::lstm>(extents_of(steps, batch, 300));
    for (std::int64_t batch : {1, 20, 28, 57}) {
      expect_right<rnnopt::lstm>(extents_of(steps, batch, 600));
      expect_right<rnnopt::gru>(extents_of(steps, batch, 600));
      expect_right<vanilla_relu>(extents_of(steps, batch, 600));
    }
  }
}
/// 15 clusters of 8 blocks run at once on an H200: 1 to 16 rows each, and the last cluster one less.
TEST(cluster, every_number_of_rows) {
  for (std::int64_t rows = 1; rows <= 16; ++rows)
    for (std::int64_t less : {0, 1}) expect_right<rnnopt::lstm>(extents_of(6, 15 * rows - less, 48));
}

/// How many rows differ in bits, of arrays of [times, batch, width], other than row `spoiled` of each time.
template <class T>
int rows_that_differ(std::vector<T> const& a, std::vector<T> const& b, std::int64_t batch, std::int64_t width,
                     std::int64_t spoiled) {
  int count = 0;
  for (std::int64_t row = 0; row * width < std::int64_t(a.size()); ++row)
    count += row % batch != spoiled && std::memcmp(&a[std::size_t(row * width)], &b[std::size_t(row * width)],
                                                   std::size_t(width) * sizeof(T)) != 0;
  return count;
}

/// NaN in one row of the batch reaches no other, though several share a tile, a cluster and its packets.
TEST(cluster, rows_do_not_touch_each_other) {
  using network = device_network<rnnopt::lstm, rnnopt::fp16, cluster>;
  rnnopt::extents const e = extents_of(4, 300, 33);
  random_network<rnnopt::lstm, rnnopt::fp16> host(e);
  auto const results_of = [&] {
    network device(host);
    device.plan().forward_training(nullptr, device.forward_arguments(true));
    device.plan().backward_data(nullptr, device.backward_arguments());
    return device.fetch();
  };
  auto const expected = results_of();
  std::int64_t const spoiled = 1;
  for (std::int64_t i = 0; i < e.input; ++i)
    host.x[std::size_t(spoiled * e.input + i)] = rnnopt::half(std::numeric_limits<float>::quiet_NaN());
  auto const got = results_of();
  EXPECT_EQ(rows_that_differ(got.y, expected.y, e.batch, e.hidden, spoiled), 0);
  EXPECT_EQ(rows_that_differ(got.h, expected.h, e.batch, e.hidden, spoiled), 0);
  EXPECT_EQ(rows_that_differ(got.dh, expected.dh, e.batch, e.hidden, spoiled), 0);
  EXPECT_EQ(rows_that_differ(got.dothers[0], expected.dothers[0], e.batch, e.hidden, spoiled), 0);
  EXPECT_EQ(rows_that_differ(got.dx, expected.dx, e.batch, e.input, spoiled), 0);
  EXPECT_TRUE(std::isnan(float(got.y[std::size_t(spoiled * e.hidden)]))) << "the spoiled row is not NaN";
}

/// Sweeps that want more of the GPU than there is wait for each other, on two streams at once, and end.
TEST(cluster, two_streams) {
  using network = device_network<rnnopt::lstm, rnnopt::fp16, cluster>;
  random_network<rnnopt::lstm, rnnopt::fp16> const one(extents_of(8, 64, 512)), two(extents_of(8, 40, 256));
  network first(one), second(two);
  auto const run = [](network& device, cudaStream_t stream) {
    device.plan().forward_training(stream, device.forward_arguments(true));
    device.plan().backward(stream, device.backward_arguments());
  };
  run(first, nullptr);
  run(second, nullptr);
  auto const expected_one = first.fetch();
  auto const expected_two = second.fetch();
  test_stream a, b;
  for (int round = 0; round < 1000; ++round) {
    run(first, a);
    run(second, b);
  }
  expect_success(cudaDeviceSynchronize());
  for (std::string const& failure : different_bits(first.fetch(), expected_one)) ADD_FAILURE() << failure;
  for (std::string const& failure : different_bits(second.fetch(), expected_two)) ADD_FAILURE() << failure;
}

}  // namespace
}  // namespace rnnopt_tests

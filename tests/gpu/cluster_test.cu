#include <cstdint>
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

/// What the suites above would otherwise take as refused.
TEST(cluster, what_has_to_fit) {
  using lstm = rnnopt::rnn<rnnopt::lstm, rnnopt::fp16, cluster>;
  for (std::int64_t hidden : {1, 6, 33, 130, 136, 256, 333, 512})
    for (std::int64_t batch : {1, 17, 64, 130}) EXPECT_EQ(lstm::misfit(extents_of(4, batch, hidden)), "") << hidden;
  using tf32 = rnnopt::rnn<rnnopt::lstm, rnnopt::tf32, cluster>;
  for (std::int64_t hidden : {1, 33, 136, 333}) EXPECT_EQ(tf32::misfit(extents_of(4, 65, hidden)), "") << hidden;
  using gru = rnnopt::rnn<rnnopt::gru, rnnopt::fp16, cluster>;
  for (std::int64_t hidden : {1, 33, 512}) EXPECT_EQ(gru::misfit(extents_of(4, 65, hidden)), "") << hidden;
  using vanilla = rnnopt::rnn<vanilla_relu, rnnopt::fp16, cluster>;
  for (std::int64_t hidden : {33, 512, 1000}) EXPECT_EQ(vanilla::misfit(extents_of(4, 17, hidden)), "") << hidden;
}

TEST(cluster, what_cannot_fit) {
  EXPECT_NE((rnnopt::rnn<rnnopt::lstm, rnnopt::fp16, cluster>::misfit(extents_of(4, 1, 4096))), "");
  EXPECT_NE((rnnopt::rnn<rnnopt::lstm, rnnopt::fp64, cluster>::misfit(extents_of(4, 1, 8))), "");
}

/// Every number of rows that a cluster's tiles can be left with.
TEST(cluster, every_number_of_rows) {
  for (std::int64_t batch = 1; batch <= 40; ++batch) {
    random_network<rnnopt::lstm, rnnopt::fp16> const host(extents_of(6, batch, 48));
    SCOPED_TRACE(host.description());
    device_network<rnnopt::lstm, rnnopt::fp16, cluster> device(host);
    device.plan().forward_training(nullptr, device.forward_arguments(true));
    device.plan().backward(nullptr, device.backward_arguments());
    auto const got = device.fetch();
    std::vector<char> reserve(device.reserve().bytes());
    device.reserve().fetch(reserve);
    for (std::string const& failure : differences<cluster>(host, got, reserve)) ADD_FAILURE() << failure;
    EXPECT_EQ(device.first_damaged(), -1) << "wrote beyond a buffer";
  }
}

}  // namespace
}  // namespace rnnopt_tests

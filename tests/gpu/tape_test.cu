#include <cuda_runtime.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "all_cells.hpp"
#include "device_network.cuh"
#include "rnnopt/device/tape_kernels.cuh"
#include "tolerances.hpp"

/// One kernel per operation against one kernel per cell: the same arguments have the same effect.

namespace rnnopt_tests {
namespace {

using namespace rnnopt::detail;

/// What a step reads and writes, random at first; the same seed gives the same numbers. Rows of y and dy are longer
/// than `hidden`, and what lies between them has to stay as it is.
template <class Cell, class Precision>
class cell_memory {
 public:
  using storage = typename Precision::storage;
  using accumulate = typename Precision::accumulate;
  using state = typename Precision::state;
  static constexpr std::int64_t batch = 5, hidden = 70, y_row = 150, plane = batch * hidden;
  static constexpr int gates = Cell::gates::count, others = Cell::states - 1;
  static constexpr int units = unit_parameters_of<Cell>::value;

  explicit cell_memory(std::uint64_t seed) : generator_(seed) {}

  pointwise_arguments<Cell, Precision> forward(bool bias, bool training, bool y, bool in_place) const {
    pointwise_arguments<Cell, Precision> a{};
    a.input_products = input_products_.template as<accumulate>();
    a.recurrent_products = recurrent_products_.template as<accumulate>();
    a.bias = bias ? bias_.template as<storage>() : nullptr;
    a.units = units_.template as<storage>();
    a.h_before = h_before_.template as<storage>();
    a.h_after = h_after_.template as<storage>();
    for (int s = 0; s < others; ++s) {
      a.before[s] = before_.template as<state>() + s * plane;
      a.after[s] = (in_place ? before_ : after_).template as<state>() + s * plane;
    }
    a.y = y ? y_.template as<storage>() : nullptr;
    a.saved = training ? saved_.template as<storage>() : nullptr;
    a.y_row = y_row;
    a.batch = batch;
    a.hidden = hidden;
    return a;
  }
  pointwise_gradient_arguments<Cell, Precision> backward(bool recurrent, bool dy, bool first) const {
    pointwise_gradient_arguments<Cell, Precision> a{};
    a.saved = saved_.template as<storage>();
    a.h_before = h_before_.template as<storage>();
    for (int s = 0; s < others; ++s) a.before[s] = before_.template as<state>() + s * plane;
    a.units = units_.template as<storage>();
    a.dy = dy ? y_.template as<storage>() : nullptr;
    a.recurrent_gradients = recurrent ? recurrent_products_.template as<accumulate>() : nullptr;
    a.state_gradients = state_gradients_.template as<accumulate>();
    a.unit_gradients = unit_gradients_.template as<accumulate>();
    a.input_gate_gradients = input_gate_gradients_.template as<storage>();
    a.recurrent_gate_gradients = recurrent_gate_gradients_.template as<storage>();
    a.dy_row = y_row;
    a.batch = batch;
    a.hidden = hidden;
    a.first = first;
    return a;
  }

  void expect_near(cell_memory const& reference) const {
    compare<storage>("h", h_after_, reference.h_after_);
    compare<state>("states in place", before_, reference.before_);
    compare<state>("states", after_, reference.after_);
    compare<storage>("y", y_, reference.y_);
    compare<storage>("pre-activations", saved_, reference.saved_);
    compare<accumulate>("state gradients", state_gradients_, reference.state_gradients_);
    compare<accumulate>("unit gradients", unit_gradients_, reference.unit_gradients_);
    compare<storage>("gate gradients of W", input_gate_gradients_, reference.input_gate_gradients_);
    compare<storage>("gate gradients of R", recurrent_gate_gradients_, reference.recurrent_gate_gradients_);
  }

 private:
  template <class T>
  guarded random(std::int64_t count, double low = -2) {
    std::vector<T> values;
    std::uniform_real_distribution<double> uniform(low, 2);
    for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<T>(uniform(generator_)));
    return guarded::of(values);
  }
  template <class T>
  static void compare(char const* name, guarded const& got, guarded const& want) {
    std::vector<T> one(got.bytes() / sizeof(T)), two(want.bytes() / sizeof(T));
    got.fetch(one);
    want.fetch(two);
    EXPECT_LE(relative_error(one, two), tolerance<Precision>(1)) << name;
    EXPECT_TRUE(got.intact()) << name;
  }

  std::mt19937_64 generator_;
  guarded input_products_ = random<accumulate>(Cell::gates::input_count * plane);
  guarded recurrent_products_ = random<accumulate>(Cell::gates::recurrent_count * plane);
  guarded bias_ = random<storage>(gates * hidden);
  guarded units_ = random<storage>(units * hidden);
  guarded h_before_ = random<storage>(plane);
  guarded h_after_ = random<storage>(plane);
  guarded before_ = random<state>(others * plane, 0.2);  // above the bound of the normaliser of sLSTM
  guarded after_ = random<state>(others * plane);
  guarded y_ = random<storage>(batch * y_row);
  guarded saved_ = random<storage>(gates * plane);
  guarded state_gradients_ = random<accumulate>(Cell::states * plane);
  guarded unit_gradients_ = random<accumulate>(units * plane);
  guarded input_gate_gradients_ = random<storage>(Cell::gates::input_count * plane);
  guarded recurrent_gate_gradients_ = random<storage>(Cell::gates::recurrent_count * plane);
};

/// Every combination of what a run may leave out, each from fresh numbers. The slots hold NaN at first.
template <class Cell, class Precision>
void compare_kernels() {
  using memory = cell_memory<Cell, Precision>;
  using accumulate = typename Precision::accumulate;
  guarded slots(std::size_t(elementwise_slots<Cell>()) * memory::plane * sizeof(accumulate));
  test_stream stream;
  for (unsigned i = 0; i < 16; ++i) {
    bool const a = (i & 1) != 0, b = (i & 2) != 0, c = (i & 4) != 0, d = (i & 8) != 0;
    std::uint64_t const seed = fresh_seed();
    SCOPED_TRACE("combination " + std::to_string(i) + ", RNNOPT_TEST_SEED=" + std::to_string(seed));
    memory fused(seed), elementwise(seed);
    launch_pointwise(stream, fused.forward(a, b, c, d), false);
    launch_elementwise(stream, elementwise.forward(a, b, c, d), slots.as<accumulate>());
    expect_success(cudaStreamSynchronize(stream));
    elementwise.expect_near(fused);

    memory fused_back(seed), elementwise_back(seed);
    slots.poison();
    launch_pointwise_gradient(stream, fused_back.backward(a, b, c), false);
    launch_elementwise_gradient(stream, elementwise_back.backward(a, b, c), slots.as<accumulate>());
    expect_success(cudaStreamSynchronize(stream));
    elementwise_back.expect_near(fused_back);
  }
  EXPECT_TRUE(slots.intact());
}

TEST(tape, lstm_in_half) { compare_kernels<rnnopt::lstm, rnnopt::fp16>(); }
TEST(tape, gru_in_single) { compare_kernels<rnnopt::gru, rnnopt::fp32>(); }
TEST(tape, slstm_in_double) { compare_kernels<cells::slstm, rnnopt::fp64>(); }
TEST(tape, peephole_lstm_in_bfloat16) { compare_kernels<cells::peephole_lstm, rnnopt::bf16>(); }

}  // namespace
}  // namespace rnnopt_tests

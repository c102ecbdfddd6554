#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "all_cells.hpp"
#include "device_network.cuh"
#include "rnnopt/device/step_plan.cuh"
#include "tolerances.hpp"

/// Every kernel of a fused step, in every way that a plan may launch it, against a product and a pointwise kernel. A
/// plan takes one of them, and which one depends on the device.

namespace rnnopt_tests {
namespace {

using namespace rnnopt::detail;

/// out [rows, columns] = left [rows, k] right, where element (k, column) of right is at k * k_apart + column * apart.
template <class T, class Sum>
__global__ void plain_product(T const* left, T const* right, Sum* out, int rows, int columns, int k,
                              std::int64_t k_apart, std::int64_t apart) {
  int const i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= rows * columns) return;
  Sum sum = 0;
  for (int j = 0; j < k; ++j)
    sum += static_cast<Sum>(left[std::int64_t(i / columns) * k + j]) *
           static_cast<Sum>(right[j * k_apart + i % columns * apart]);
  out[i] = sum;
}

/// What one step reads and writes; the same seed gives the same numbers.
template <class Cell, class Precision>
class step_memory {
 public:
  using gates = typename Cell::gates;
  using storage = typename Precision::storage;
  using accumulate = typename Precision::accumulate;
  using state = typename Precision::state;
  static constexpr int others = Cell::states - 1;

  step_memory(std::uint64_t seed, std::int64_t batch, std::int64_t hidden)
      : batch_(batch), hidden_(hidden), plane_(batch * hidden), generator_(seed) {
    double const scale = 2 / std::sqrt(double(hidden));
    recurrent_ = random<storage>(gates::recurrent_count * hidden * hidden, scale);
    input_products_ = random<accumulate>(gates::input_count * plane_, 1);
    recurrent_products_ = random<accumulate>(gates::recurrent_count * plane_, 1);
    bias_ = random<storage>(gates::count * hidden, 1);
    units_ = random<storage>(unit_parameters_of<Cell>::value * hidden, 1);
    h_before_ = random<storage>(plane_, 1);
    h_after_ = random<storage>(plane_, 1);
    before_ = random<state>(others * plane_, 1);
    after_ = random<state>(others * plane_, 1);
    saved_ = random<storage>(gates::count * plane_, 1);
    dy_ = random<storage>(plane_, 1);
    following_ = random<storage>(gates::recurrent_count * plane_, 1);
    state_gradients_ = random<accumulate>(Cell::states * plane_, 1);
    unit_gradients_ = random<accumulate>(unit_parameters_of<Cell>::value * plane_, 1);
    input_gate_gradients_ = random<storage>(gates::input_count * plane_, 1);
    recurrent_gate_gradients_ = random<storage>(gates::recurrent_count * plane_, 1);
  }

  void forward_plainly(cudaStream_t stream) const {
    plain(stream, h_before_, hidden_, gates::recurrent_count * hidden_, 1, hidden_);
    launch_pointwise(stream, forward_cell(), false);
  }
  void backward_plainly(cudaStream_t stream) const {
    plain(stream, following_, gates::recurrent_count * hidden_, hidden_, hidden_, 1);
    launch_pointwise_gradient(stream, backward_cell(), false);
  }
  void run(cudaStream_t stream, step_launch<step_arguments<Cell, Precision>> const& l) const {
    launch_step(stream, l,
                step_arguments<Cell, Precision>{
                    describe_step(l, h_before_.template as<storage const>(), recurrent_.template as<storage const>(),
                                  batch_, hidden_, hidden_),
                    forward_cell()},
                false, "a test");
  }
  void run(cudaStream_t stream, step_launch<step_gradient_arguments<Cell, Precision>> const& l) const {
    launch_step(stream, l,
                step_gradient_arguments<Cell, Precision>{
                    describe_step(l, following_.template as<storage const>(), recurrent_.template as<storage const>(),
                                  batch_, hidden_, gates::recurrent_count * hidden_),
                    backward_cell()},
                false, "a test");
  }

  void expect_near(step_memory const& reference) const {
    compare<storage>("h", h_after_, reference.h_after_);
    compare<state>("states", after_, reference.after_);
    compare<storage>("pre-activations", saved_, reference.saved_);
    compare<accumulate>("state gradients", state_gradients_, reference.state_gradients_);
    compare<accumulate>("unit gradients", unit_gradients_, reference.unit_gradients_);
    compare<storage>("gate gradients of W", input_gate_gradients_, reference.input_gate_gradients_);
    compare<storage>("gate gradients of R", recurrent_gate_gradients_, reference.recurrent_gate_gradients_);
  }

 private:
  template <class T>
  guarded random(std::int64_t count, double bound) {
    std::vector<T> values;
    std::uniform_real_distribution<double> uniform(-bound, bound);
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
  void plain(cudaStream_t stream, guarded const& left, std::int64_t k, std::int64_t columns, std::int64_t k_apart,
             std::int64_t apart) const {
    auto const blocks = unsigned((batch_ * columns + 127) / 128);
    plain_product<<<blocks, 128, 0, stream>>>(left.as<storage const>(), recurrent_.as<storage const>(),
                                              recurrent_products_.as<accumulate>(), int(batch_), int(columns), int(k),
                                              k_apart, apart);
    expect_success(cudaGetLastError());
  }
  pointwise_arguments<Cell, Precision> forward_cell() const {
    pointwise_arguments<Cell, Precision> a{};
    a.input_products = input_products_.as<accumulate>();
    a.recurrent_products = recurrent_products_.as<accumulate>();
    a.bias = bias_.as<storage>();
    a.units = units_.as<storage>();
    a.h_before = h_before_.as<storage>();
    a.h_after = h_after_.as<storage>();
    for (int s = 0; s < others; ++s) {
      a.before[s] = before_.as<state>() + s * plane_;
      a.after[s] = after_.as<state>() + s * plane_;
    }
    a.saved = saved_.as<storage>();
    a.batch = std::int32_t(batch_);
    a.hidden = std::int32_t(hidden_);
    return a;
  }
  pointwise_gradient_arguments<Cell, Precision> backward_cell() const {
    pointwise_gradient_arguments<Cell, Precision> a{};
    a.saved = saved_.as<storage>();
    a.h_before = h_before_.as<storage>();
    for (int s = 0; s < others; ++s) a.before[s] = before_.as<state>() + s * plane_;
    a.units = units_.as<storage>();
    a.dy = dy_.as<storage>();
    a.recurrent_gradients = recurrent_products_.as<accumulate>();
    a.state_gradients = state_gradients_.as<accumulate>();
    a.unit_gradients = unit_gradients_.as<accumulate>();
    a.input_gate_gradients = input_gate_gradients_.as<storage>();
    a.recurrent_gate_gradients = recurrent_gate_gradients_.as<storage>();
    a.dy_row = hidden_;
    a.batch = std::int32_t(batch_);
    a.hidden = std::int32_t(hidden_);
    return a;
  }

  std::int64_t batch_, hidden_, plane_;
  std::mt19937_64 generator_;
  guarded recurrent_, input_products_, recurrent_products_, bias_, units_, h_before_, h_after_, before_, after_, saved_,
      dy_, following_, state_gradients_, unit_gradients_, input_gate_gradients_, recurrent_gate_gradients_;
};

template <class Arguments>
std::vector<step_launch<Arguments>> every_launch(std::vector<step_variant<Arguments>> const& variants) {
  std::vector<step_launch<Arguments>> result;
  for (auto const& v : variants) {
    if (!allow_shared_memory(v)) continue;
    for (int cluster = 1; cluster <= 8; cluster *= 2)
      for (bool const few : {false, true}) {
        step_launch<Arguments> l{};
        l.variant = v;
        l.cluster = cluster;
        l.stages = few ? 2 : v.stages;
        result.push_back(l);
      }
  }
  return result;
}

/// The second size makes blocks of a cluster with nothing to multiply, the third stages that are used again.
template <class Cell, class Precision>
void compare_steps() {
  if (!has_dependent_launch()) {
    int device = 0, major = 0;
    expect_success(cudaGetDevice(&device));
    expect_success(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    ASSERT_LT(major, 9) << "the tests are compiled for an earlier device than this one";
    GTEST_SKIP() << "needs compute capability 9.0";
  }
  using kernels = step_kernels<Cell, Precision>;
  struct size {
    std::int64_t batch, hidden;
  };
  test_stream stream;
  for (size const s : {size{65, 136}, size{3, 8}, size{33, 1000}}) {
    std::uint64_t const seed = fresh_seed();
    SCOPED_TRACE("batch " + std::to_string(s.batch) + ", hidden " + std::to_string(s.hidden) +
                 ", RNNOPT_TEST_SEED=" + std::to_string(seed));
    step_memory<Cell, Precision> const forward(seed, s.batch, s.hidden), backward(seed, s.batch, s.hidden);
    forward.forward_plainly(stream);
    backward.backward_plainly(stream);
    auto const compare = [&](auto const& launches, step_memory<Cell, Precision> const& want) {
      for (auto const& l : launches) {
        SCOPED_TRACE(std::to_string(l.variant.rows) + " rows, " + std::to_string(l.columns()) +
                     " columns, cluster of " + std::to_string(l.cluster) + ", " + std::to_string(l.stages) + " stages");
        step_memory<Cell, Precision> const got(seed, s.batch, s.hidden);
        got.run(stream, l);
        expect_success(cudaStreamSynchronize(stream));
        got.expect_near(want);
      }
    };
    compare(every_launch(kernels::forward()), forward);
    compare(every_launch(kernels::backward()), backward);
  }
}

/// More gates than any cell of the library, and a unit parameter: their tiles are cut otherwise.
struct five_gates {
  using gates = rnnopt::gates<rnnopt::feed::both, rnnopt::feed::both, rnnopt::feed::both, rnnopt::feed::both,
                              rnnopt::feed::recurrent>;
  static constexpr int states = 2;
  static constexpr int unit_parameters = 1;

  template <class Gates, class States, class Units>
  RNNOPT_HD static auto step(Gates const& pre, States const& states, Units const& units) {
    auto const& [i, f, o, g, r] = pre;
    auto const& [h, c] = states;
    auto const& [p] = units;
    auto const c_next = sigmoid(f) * c + sigmoid(i + p * c) * tanh(g) * sigmoid(r);
    return rnnopt::pack(sigmoid(o) * tanh(c_next), c_next);
  }
};

TEST(step_kernels, five_gates_in_half) { compare_steps<five_gates, rnnopt::fp16>(); }
TEST(step_kernels, five_gates_in_double) { compare_steps<five_gates, rnnopt::fp64>(); }
TEST(step_kernels, lstm_in_half) { compare_steps<rnnopt::lstm, rnnopt::fp16>(); }
TEST(step_kernels, lstm_in_tf32) { compare_steps<rnnopt::lstm, rnnopt::tf32>(); }
TEST(step_kernels, lstm_in_single) { compare_steps<rnnopt::lstm, rnnopt::fp32>(); }
TEST(step_kernels, gru_in_bfloat16) { compare_steps<rnnopt::gru, rnnopt::bf16>(); }
TEST(step_kernels, vanilla_in_double) { compare_steps<rnnopt::vanilla<rnnopt::activations::tanh>, rnnopt::fp64>(); }

}  // namespace
}  // namespace rnnopt_tests

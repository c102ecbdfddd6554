#include "cudnn_contender.hpp"

#include <stdexcept>

#if defined(RNNOPT_BENCH_HAS_CUDNN)

#include <cudnn.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "device.hpp"
#include "fill.hpp"
#include "rnnopt/extents.hpp"

namespace bench {
namespace {

void check_cudnn(cudnnStatus_t status, char const* call) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  cudaGetLastError();
  throw std::runtime_error(std::string(call) + ": " + cudnnGetErrorString(status));
}

/// A cuDNN object with its constructor and destructor.
template <class Object, auto Create, auto Destroy>
class owned {
 public:
  owned() { check_cudnn(Create(&object_), "creating a cuDNN object"); }
  owned(owned const&) = delete;
  owned& operator=(owned const&) = delete;
  ~owned() { Destroy(object_); }

  operator Object() const { return object_; }

 private:
  Object object_ = nullptr;
};

using rnn_descriptor = owned<cudnnRNNDescriptor_t, cudnnCreateRNNDescriptor, cudnnDestroyRNNDescriptor>;
using dropout_descriptor = owned<cudnnDropoutDescriptor_t, cudnnCreateDropoutDescriptor, cudnnDestroyDropoutDescriptor>;
using data_descriptor = owned<cudnnRNNDataDescriptor_t, cudnnCreateRNNDataDescriptor, cudnnDestroyRNNDataDescriptor>;
using tensor_descriptor = owned<cudnnTensorDescriptor_t, cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor>;

/// One for the whole program, because creating it is slow; never destroyed, because CUDA may be gone when statics are.
cudnnHandle_t handle() {
  static cudnnHandle_t const the_handle = [] {
    cudnnHandle_t created = nullptr;
    check_cudnn(cudnnCreate(&created), "cudnnCreate");
    return created;
  }();
  return the_handle;
}

struct number_types {
  cudnnDataType_t storage;
  cudnnDataType_t accumulate;
  cudnnMathType_t math;
  element type;
  std::size_t bytes;
};

number_types types_of(std::string const& precision) {
  if (precision == "fp32") return {CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT, CUDNN_FMA_MATH, element::fp32, 4};
  if (precision == "tf32") return {CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT, CUDNN_DEFAULT_MATH, element::fp32, 4};
  if (precision == "fp16") return {CUDNN_DATA_HALF, CUDNN_DATA_FLOAT, CUDNN_TENSOR_OP_MATH, element::fp16, 2};
  if (precision == "bf16") return {CUDNN_DATA_BFLOAT16, CUDNN_DATA_FLOAT, CUDNN_TENSOR_OP_MATH, element::bf16, 2};
  if (precision == "fp64") return {CUDNN_DATA_DOUBLE, CUDNN_DATA_DOUBLE, CUDNN_DEFAULT_MATH, element::fp64, 8};
  throw std::runtime_error("cuDNN has no precision '" + precision + "'");
}

cudnnRNNMode_t mode_of(std::string const& cell) {
  if (cell == "lstm") return CUDNN_LSTM;
  if (cell == "gru") return CUDNN_GRU;
  if (cell == "vanilla_tanh") return CUDNN_RNN_TANH;
  if (cell == "vanilla_relu") return CUDNN_RNN_RELU;
  throw std::runtime_error("cuDNN has no cell '" + cell + "'");
}

struct named_algorithm {
  char const* name;
  cudnnRNNAlgo_t value;
};
constexpr std::array<named_algorithm, 3> algorithms{{{"standard", CUDNN_RNN_ALGO_STANDARD},
                                                     {"persist_static", CUDNN_RNN_ALGO_PERSIST_STATIC},
                                                     {"persist_dynamic", CUDNN_RNN_ALGO_PERSIST_DYNAMIC}}};

cudnnRNNAlgo_t algorithm_of(std::string const& name) {
  for (named_algorithm const& a : algorithms)
    if (name == a.name) return a.value;
  throw std::runtime_error("cuDNN has no algorithm '" + name + "'");
}

int extent(std::int64_t value) {
  if (value < 1 || value > std::numeric_limits<int>::max())
    throw std::runtime_error("cuDNN takes no extent of " + std::to_string(value));
  return static_cast<int>(value);
}

/// Unidirectional, input as wide as the hidden state, two biases a gate, rows of equal length in the packed layout.
class cudnn_contender final : public contender {
 public:
  cudnn_contender(shape const& s, std::string const& algorithm, cudaStream_t stream)
      : types_(types_of(s.precision)), stream_(stream), has_cell_state_(s.cell == "lstm") {
    int const hidden = extent(s.hidden), batch = extent(s.batch), steps = extent(s.steps), layers = extent(s.layers);
    cudnnRNNAlgo_t const chosen = algorithm_of(algorithm);
    check_cudnn(cudnnSetStream(handle(), stream), "cudnnSetStream");
    check_cudnn(cudnnSetDropoutDescriptor(dropout_, handle(), 0, nullptr, 0, 0), "cudnnSetDropoutDescriptor");
    check_cudnn(cudnnSetRNNDescriptor_v8(rnn_, chosen, mode_of(s.cell), CUDNN_RNN_DOUBLE_BIAS, CUDNN_UNIDIRECTIONAL,
                                         CUDNN_LINEAR_INPUT, types_.storage, types_.accumulate, types_.math, hidden,
                                         hidden, hidden, layers, dropout_, CUDNN_RNN_PADDED_IO_DISABLED),
                "cudnnSetRNNDescriptor");
    if (chosen == CUDNN_RNN_ALGO_PERSIST_DYNAMIC)
      check_cudnn(cudnnBuildRNNDynamic(handle(), rnn_, batch), "cudnnBuildRNNDynamic");

    std::vector<std::int32_t> const lengths(std::size_t(batch), steps);
    check_cudnn(cudnnSetRNNDataDescriptor(sequence_, types_.storage, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED, steps,
                                          batch, hidden, lengths.data(), nullptr),
                "cudnnSetRNNDataDescriptor");
    int const sizes[] = {layers, batch, hidden}, strides[] = {extent(s.batch * s.hidden), hidden, 1};
    check_cudnn(cudnnSetTensorNdDescriptor(state_, types_.storage, 3, sizes, strides), "cudnnSetTensorNdDescriptor");

    check_cudnn(cudnnGetRNNWeightSpaceSize(handle(), rnn_, &weight_bytes_), "cudnnGetRNNWeightSpaceSize");
    std::size_t inference = 0, training = 0, unused = 0, reserve = 0;
    check_cudnn(cudnnGetRNNTempSpaceSizes(handle(), rnn_, CUDNN_FWD_MODE_INFERENCE, sequence_, &inference, &unused),
                "cudnnGetRNNTempSpaceSizes");
    check_cudnn(cudnnGetRNNTempSpaceSizes(handle(), rnn_, CUDNN_FWD_MODE_TRAINING, sequence_, &training, &reserve),
                "cudnnGetRNNTempSpaceSizes");

    std::int64_t const sequence = rnnopt::detail::checked_product("bench", s.steps, s.batch, s.hidden);
    std::int64_t const state = rnnopt::detail::checked_product("bench", s.layers, s.batch, s.hidden);
    lengths_ = device_array<std::int32_t>(s.batch);
    check_cuda(cudaMemcpy(lengths_.data(), lengths.data(), lengths_.bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
    workspace_ = device_memory(std::max({inference, training, std::size_t(1)}));  // never null
    reserve_ = device_memory(std::max(reserve, std::size_t(1)));
    double const bound = 1 / std::sqrt(static_cast<double>(s.hidden));
    weights_ = filled(std::int64_t(weight_bytes_ / types_.bytes), bound, 1);
    gradients_ = device_memory(weight_bytes_);
    check_cuda(cudaMemsetAsync(gradients_.data(), 0, weight_bytes_, stream), "cudaMemsetAsync");
    x_ = filled(sequence, 1, 2);
    dy_ = filled(sequence, 1, 3);
    y_ = device_memory(x_.bytes());
    dx_ = device_memory(x_.bytes());
    h_ = states(state, 100);
    if (has_cell_state_) c_ = states(state, 101);
  }

  void enqueue(timed_pass pass, cudaStream_t stream) override {
    if (stream != stream_) throw std::logic_error("cuDNN was set up for another stream");
    switch (pass) {
      case timed_pass::forward_inference:
        return forward(CUDNN_FWD_MODE_INFERENCE, 0, nullptr);
      case timed_pass::forward_training:
        return forward(CUDNN_FWD_MODE_TRAINING, reserve_.bytes(), reserve_.data());
      case timed_pass::backward_data:
        return backward_data();
      case timed_pass::weight_gradient:
        return weight_gradient();
    }
  }

 private:
  /// Initial and final values of one state, and their gradients.
  struct state_memory {
    device_memory initial, final, final_gradient, initial_gradient;
  };

  device_memory filled(std::int64_t count, double scale, std::uint64_t seed) const {
    device_memory memory(std::size_t(count) * types_.bytes);
    fill_uniform(memory.data(), types_.type, count, scale, seed, stream_);
    return memory;
  }

  state_memory states(std::int64_t count, std::uint64_t seed) const {
    std::size_t const bytes = std::size_t(count) * types_.bytes;
    return {filled(count, 1, seed), device_memory(bytes), filled(count, 1, seed + 100), device_memory(bytes)};
  }

  void forward(cudnnForwardMode_t mode, std::size_t reserve_bytes, void* reserve) const {
    check_cudnn(
        cudnnRNNForward(handle(), rnn_, mode, lengths_.data(), sequence_, x_.data(), sequence_, y_.data(), state_,
                        h_.initial.data(), h_.final.data(), state_, c_.initial.data(), c_.final.data(), weight_bytes_,
                        weights_.data(), workspace_.bytes(), workspace_.data(), reserve_bytes, reserve),
        "cudnnRNNForward");
  }

  void backward_data() const {
    check_cudnn(cudnnRNNBackwardData_v8(handle(), rnn_, lengths_.data(), sequence_, y_.data(), dy_.data(), sequence_,
                                        dx_.data(), state_, h_.initial.data(), h_.final_gradient.data(),
                                        h_.initial_gradient.data(), state_, c_.initial.data(), c_.final_gradient.data(),
                                        c_.initial_gradient.data(), weight_bytes_, weights_.data(), workspace_.bytes(),
                                        workspace_.data(), reserve_.bytes(), reserve_.data()),
                "cudnnRNNBackwardData");
  }

  void weight_gradient() const {
    check_cudnn(
        cudnnRNNBackwardWeights_v8(handle(), rnn_, CUDNN_WGRAD_MODE_ADD, lengths_.data(), sequence_, x_.data(), state_,
                                   h_.initial.data(), sequence_, y_.data(), weight_bytes_, gradients_.data(),
                                   workspace_.bytes(), workspace_.data(), reserve_.bytes(), reserve_.data()),
        "cudnnRNNBackwardWeights");
  }

  number_types types_;
  cudaStream_t stream_;
  bool has_cell_state_;
  dropout_descriptor dropout_;
  rnn_descriptor rnn_;
  data_descriptor sequence_;
  tensor_descriptor state_;
  std::size_t weight_bytes_ = 0;
  device_array<std::int32_t> lengths_;
  device_memory workspace_, reserve_, weights_, gradients_;
  device_memory x_, y_, dy_, dx_;
  state_memory h_, c_;
};

}  // namespace

std::string cudnn_version() {
  std::size_t const version = cudnnGetVersion();  // 9.12.3 is 91203
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

std::vector<std::string> cudnn_algorithms() {
  std::vector<std::string> names;
  for (named_algorithm const& a : algorithms) names.emplace_back(a.name);
  return names;
}

std::unique_ptr<contender> make_cudnn_contender(shape const& s, std::string const& algorithm, cudaStream_t stream) {
  return std::make_unique<cudnn_contender>(s, algorithm, stream);
}

}  // namespace bench

#else

namespace bench {

std::string cudnn_version() { return {}; }

std::vector<std::string> cudnn_algorithms() { return {}; }

std::unique_ptr<contender> make_cudnn_contender(shape const&, std::string const&, cudaStream_t) {
  throw std::logic_error("built without cuDNN");
}

}  // namespace bench

#endif

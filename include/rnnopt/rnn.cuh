#pragma once

#if !defined(__CUDACC__)
#error "rnnopt: the GPU part needs nvcc; include rnnopt/rnnopt_host.hpp for the host part"
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#error "rnnopt: the GPU part needs compute capability 8.0; compile with -arch=sm_80 or later"
#endif

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "rnnopt/buffers.hpp"
#include "rnnopt/checks.hpp"
#include "rnnopt/device/backward_sink.cuh"
#include "rnnopt/device/forward_sink.cuh"
#include "rnnopt/device/optional_kernels.cuh"
#include "rnnopt/device/plan_sink.cuh"
#include "rnnopt/device/transpose.cuh"
#include "rnnopt/product_choice.hpp"

namespace rnnopt {

/// @brief What a plan may be asked for.
struct plan_options {
  product_choice products = product_choice::heuristic;  ///< how products and steps are chosen
};

/// @brief A recurrent network planned for one GPU and one set of extents.
///
/// Construction chooses algorithms and may allocate; it belongs to the device that is current then. Runs allocate
/// nothing, synchronise nothing and can be captured: they enqueue on the caller's stream (side lanes start after
/// earlier work in it and are joined before the call returns) and throw before the first enqueue, or when CUDA fails.
/// Pointers are device memory; arrays of line_weights are host memory, read during the call only. The bits of a result
/// depend on device, plan and inputs alone.
///
/// One thread at a time may enqueue through an object, though runs are const: a schedule with several lanes uses
/// streams and events of the plan. Runs that may overlap in time need workspaces (and reserves) of their own. From the
/// first run of a capture to its end, runs of the same plan belong to that capture.
///
/// @tparam Cell       what one hidden unit computes (cell.hpp)
/// @tparam Precision  how numbers are stored and summed (precision.hpp)
/// @tparam Schedule   in which order operations run, on which lanes (schedule.hpp)
template <class Cell, class Precision, class Schedule>
class rnn {
  static_assert(detail::require_cell<Cell>::value);
  static_assert(detail::require_precision<Precision>::value);
  static_assert(detail::require_schedule<Schedule>::value);
  static_assert(detail::has_product<typename Precision::storage, typename Precision::accumulate, Precision::math>,
                "rnnopt: cuBLASLt has no product for this precision; write storage half, bfloat16 or float and "
                "accumulate float, or double for both, and matrix_math::tf32 for float only");

 public:
  using cell = Cell;
  using precision = Precision;
  using schedule = Schedule;
  using forward_arguments = rnnopt::forward_arguments<Cell, Precision>;
  using backward_arguments = rnnopt::backward_arguments<Cell, Precision>;

  /// @brief Plans on the current device.
  /// @param e        layers, input, hidden, batch, steps; directions has to be 1
  /// @param options  how products and the kernels of fused steps are chosen
  /// @throws logic_error for extents that are out of range, not supported yet or too large for 64 bits, or whose R does
  ///         not fit on the chip where the schedule wants it there (does_not_fit, not_supported; see misfit);
  ///         cuda_error, cublas_error
  explicit rnn(extents const& e, plan_options const& options = {}) : rnn(e, options, dry_run(checked(e))) {}

  /// @brief The extents this network was planned for.
  extents const& network_extents() const { return e_; }

  /// @brief Whether the steps that the schedule emits run as one kernel each.
  ///
  /// They need a schedule that fuses them, a cell with recurrent gates, a device of compute capability 9.0 and a
  /// program compiled for it, and rows of h that are multiples of 16 bytes; otherwise a step is a product and a
  /// pointwise kernel.
  bool runs_fused_steps() const { return steps_.runs(); }

  /// @brief Why the schedule's sweeps, forward or backward, cannot keep the recurrent weights of such a network on the
  /// chip of the current device; empty where they can, and for a schedule without sweeps.
  /// @param e  as for the constructor, which refuses such extents with this reason, as does_not_fit, or not_supported
  ///           where device, precision or team rule out all extents
  /// @throws logic_error for extents that the constructor refuses for other reasons, and where there is no GPU;
  ///         cuda_error
  static std::string misfit(extents const& e) {
    current_device();
    return sweeps(checked(e)).misfit().reason;
  }

  /// @brief Bytes of workspace a pass needs; exactly that much is enough. Depends on types and extents only.
  std::size_t workspace_bytes(pass p) const { return layouts_.workspace_bytes(p); }
  /// @brief Bytes that a training forward leaves for backward.
  std::size_t reserve_bytes() const { return layouts_.reserve_bytes(); }
  /// @brief Bytes of packed weights that every run reads; 0 where the schedule takes the weights as they are.
  std::size_t packed_bytes() const { return transposed ? static_cast<std::size_t>(packed_.bytes) : 0; }

  /// @brief Fills `packed` from the weights, for as many runs as there are until the weights change.
  ///
  /// Enqueued on `stream`; returns before it has run. Does nothing where packed_bytes() is 0.
  /// @param stream   stream of the plan's device
  /// @param weights  as in forward_arguments
  /// @param packed   packed_bytes(), 16-byte aligned; null where that is 0
  /// @throws logic_error before anything is enqueued; cuda_error
  void pack(cudaStream_t stream, line_weights<typename Precision::storage const> const* weights,
            memory const& packed) const {
    using storage = typename Precision::storage;
    char const* const where = "rnn::pack";
    detail::check_weights(where, weights, e_, shape);
    detail::check_packed(where, packed, packed_bytes());
    detail::check_packed_apart(where, weights, e_, shape, {{"packed"}, packed.data, std::int64_t(packed_bytes())});
    check_device(where, stream);
    if (!transposed) return;
    auto* const base = static_cast<std::byte*>(packed.data);
    std::int64_t const hidden = e_.hidden;
    for (std::int64_t i = 0; i < e_.lines(); ++i) {
      detail::launch_transpose(stream, weights[i].input, detail::at<storage>(base, packed_.input(i), 0),
                               shape.input_gates * hidden, e_.input_of(i / e_.directions));
      detail::launch_transpose(stream, weights[i].recurrent, detail::at<storage>(base, packed_.recurrent(i), 0),
                               shape.recurrent_gates * hidden, hidden);
    }
  }

  /// @brief Runs the network and keeps nothing.
  ///
  /// Enqueued on `stream`; returns before it has run.
  /// @param stream  stream of the plan's device
  /// @param a       shapes in arguments.hpp; the reserve is not looked at
  /// @throws logic_error before anything is enqueued; cuda_error, cublas_error
  void forward(cudaStream_t stream, forward_arguments const& a) const { run_forward("rnn::forward", stream, a, false); }

  /// @brief Runs the network and fills the reserve for backward.
  ///
  /// Enqueued on `stream`; returns before it has run.
  /// @param stream  stream of the plan's device
  /// @param a       shapes in arguments.hpp
  /// @throws logic_error before anything is enqueued; cuda_error, cublas_error
  void forward_training(cudaStream_t stream, forward_arguments const& a) const {
    run_forward("rnn::forward_training", stream, a, true);
  }

  /// @brief Gradients of x and of the initial states; leaves gate gradients in the workspace.
  ///
  /// Enqueued on `stream`; returns before it has run.
  /// @param stream  stream of the plan's device
  /// @param a       shapes in arguments.hpp; `gradients` and `mode` are not looked at
  /// @pre forward_training has filled the reserve from the same weights.
  /// @throws logic_error before anything is enqueued; cuda_error, cublas_error
  void backward_data(cudaStream_t stream, backward_arguments const& a) const {
    run_backward("rnn::backward_data", stream, a, {true, false});
  }

  /// @brief Gradients of the weights from the gate gradients that backward_data left in the workspace.
  ///
  /// Enqueued on `stream`; returns before it has run.
  /// @param stream  stream of the plan's device
  /// @param a       shapes in arguments.hpp; only x, weights, packed, gradients, mode, workspace and reserve are
  ///                looked at
  /// @pre backward_data has run with the same workspace, untouched since, and the same reserve.
  /// @throws logic_error before anything is enqueued; cuda_error, cublas_error
  void weight_gradient(cudaStream_t stream, backward_arguments const& a) const {
    run_backward("rnn::weight_gradient", stream, a, {false, true});
  }

  /// @brief backward_data and weight_gradient in one run.
  ///
  /// Enqueued on `stream`; returns before it has run.
  /// @param stream  stream of the plan's device
  /// @param a       shapes in arguments.hpp
  /// @pre forward_training has filled the reserve from the same weights.
  /// @throws logic_error before anything is enqueued; cuda_error, cublas_error
  void backward(cudaStream_t stream, backward_arguments const& a) const {
    run_backward("rnn::backward", stream, a, {true, true});
  }

 private:
  static constexpr cell_shape shape = detail::shape_of<Cell>();
  static constexpr detail::element_sizes sizes = detail::sizes_of<Precision>();
  static constexpr bool transposed = detail::transposed_weights_of<Schedule>();
  using kinds = detail::kinds_of<Schedule>;
  using sweeps = detail::network_sweeps<Cell, Precision, kinds>;

  rnn(extents const& e, plan_options const& options, detail::plan_sink const& needs)
      : e_(e),
        device_(current_device()),
        cublas_(detail::make_cublas("rnn")),
        products_(e, shape, transposed),
        steps_(e, options.products, concurrent_lines(e)),
        sweeps_(planned_sweeps(e)),
        lanes_(needs.lanes(), needs.events(), [&](int lane) { return detail::priority_of<Schedule>(net(e), lane); }),
        layouts_(e, shape, sizes, Schedule::concurrent_layers(net(e)), scratch(needs.lanes())),
        packed_(e, shape, sizes) {
    if (!is_empty())
      for (detail::product_key const& key : needs.products())
        products_.plan(cublas_.get(), key, options.products, concurrent_lines(e));
  }

  static network net(extents const& e) {
    return {e.layers, e.directions, e.steps, shape.input_gates, shape.recurrent_gates};
  }

  /// How many lines the schedule has in flight at once.
  static int concurrent_lines(extents const& e) {
    return int(std::clamp<std::int64_t>(Schedule::concurrent_layers(net(e)), 1, e.layers) * e.directions);
  }

  static detail::executor_scratch scratch(std::int64_t lanes) {
    return {lanes, std::int64_t(detail::product_scratch_bytes), detail::column_sum_chunks,
            detail::slots_of_a_lane<Cell, kinds::elementwise>()};
  }

  /// Refuses what cannot be run before anything is planned: sizes first, since a plan grows with them.
  static extents checked(extents const& e) {
    detail::check_extents("rnn", e, shape, sizes.accumulate);
    detail::network_layouts const most(e, shape, sizes, e.layers, scratch(1));
    // One thread a unit, blocks counted in 31 bits.
    std::int64_t const units = detail::checked_product("rnn", e.lines(), e.batch, e.hidden);
    if (units >= std::int64_t(1) << 37 || shape.gates * e.hidden >= std::int64_t(1) << 30)
      detail::fail(
          errc::extent_too_large, "rnn",
          "layers * batch * hidden is " + std::to_string(units) + ", needs below 2^37 (and gates * hidden below 2^30)");
    if (e.directions != 1)
      detail::fail(errc::not_supported, "rnn", "directions is 2, the GPU executor runs 1", "host_rnn runs both");
    return e;
  }

  static sweeps planned_sweeps(extents const& e) {
    sweeps result(e);
    if (detail::sweep_misfit const& misfit = result.misfit(); !misfit.reason.empty())
      detail::fail(misfit.code, "rnn", misfit.reason, detail::misfit_hint);
    return result;
  }

  static int current_device() {
    int device = 0;
    cudaError_t const found = cudaGetDevice(&device);
    if (found == cudaErrorNoDevice || found == cudaErrorInsufficientDriver) {
      cudaGetLastError();
      detail::fail(errc::no_device, "rnn", std::string("there is no usable GPU, ") + cudaGetErrorString(found));
    }
    detail::require_success(found, "rnn");
    return device;
  }

  static detail::plan_sink dry_run(extents const& e) {
    detail::plan_sink sink(e.steps, shape, kinds::fused_steps, kinds::elementwise, kinds::sweeps);
    Schedule::forward(net(e), sink);
    for (gradient_request const wanted : {gradient_request{true, true}, {true, false}, {false, true}})
      Schedule::backward(net(e), wanted, sink);
    return sink;
  }

  bool is_empty() const { return e_.steps == 0 || e_.batch == 0; }

  void check_device(char const* where, cudaStream_t stream) const {
    int device = 0;
    detail::require_success(cudaGetDevice(&device), where);
    detail::check_same_device(where, "the current device", device, device_);
    if (stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread) return;
    // CUDA does not tell the device of a stream that is being captured.
    cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
    detail::require_success(cudaStreamIsCapturing(stream, &capturing), where);
    if (capturing != cudaStreamCaptureStatusNone) return;
    detail::require_success(cudaStreamGetDevice(stream, &device), where);
    detail::check_same_device(where, "the stream's device", device, device_);
  }

  static void refuse_lengths(char const* where, std::int32_t const* lengths) {
    if (lengths != nullptr)
      detail::fail(errc::not_supported, where, "lengths is given, the GPU executor runs all rows for `steps`",
                   "host_rnn takes lengths");
  }

  void run_forward(char const* where, cudaStream_t stream, forward_arguments const& a, bool training) const {
    pass const p = training ? pass::training : pass::inference;
    detail::check_forward(where, a, e_, workspace_bytes(p), training ? reserve_bytes() : 0, packed_bytes());
    refuse_lengths(where, a.lengths);
    check_device(where, stream);
    if (e_.batch == 0) return;
    detail::forward_buffers<Cell, Precision> const buffers(e_, layouts_, a, training);
    detail::cuda_forward_sink<Cell, Precision, kinds> sink(stream, lanes_, products_, steps_, sweeps_, packed_, a,
                                                           buffers);
    joining(stream, [&] {
      sink.begin();
      if (!is_empty()) Schedule::forward(net(e_), sink);
      sink.end();
    });
  }

  void run_backward(char const* where, cudaStream_t stream, backward_arguments const& a,
                    gradient_request wanted) const {
    detail::check_backward(where, a, e_, wanted, workspace_bytes(pass::backward), reserve_bytes(), packed_bytes());
    refuse_lengths(where, a.lengths);
    check_device(where, stream);
    if (is_empty() && wanted.weights && a.mode == gradient_mode::overwrite) clear_gradients(stream, a);
    if (e_.batch == 0) return;
    detail::backward_buffers<Cell, Precision> const buffers(e_, layouts_, a);
    detail::cuda_backward_sink<Cell, Precision, kinds> sink(stream, lanes_, products_, steps_, sweeps_, packed_, a,
                                                            buffers);
    joining(stream, [&] {
      sink.begin(wanted);
      if (!is_empty()) Schedule::backward(net(e_), wanted, sink);
      sink.end(wanted);
    });
  }

  /// Enqueues; where that fails, the side lanes are joined all the same.
  template <class Function>
  void joining(cudaStream_t stream, Function&& enqueue) const {
    try {
      enqueue();
    } catch (...) {
      lanes_.join_quietly(stream);
      throw;
    }
  }

  /// The gradient over no rows is zero.
  void clear_gradients(cudaStream_t stream, backward_arguments const& a) const {
    using accumulate = typename Precision::accumulate;
    for (std::int64_t i = 0; i < e_.lines(); ++i) {
      auto const clear = [&](accumulate* pointer, std::int64_t rows, std::int64_t columns) {
        if (pointer == nullptr || rows == 0) return;
        detail::require_success(cudaMemsetAsync(pointer, 0, std::size_t(rows * columns) * sizeof(accumulate), stream),
                                "clearing gradients");
      };
      clear(a.gradients[i].input, shape.input_gates * e_.hidden, e_.input_of(i / e_.directions));
      clear(a.gradients[i].recurrent, shape.recurrent_gates * e_.hidden, e_.hidden);
      clear(a.gradients[i].bias, shape.gates, e_.hidden);
      clear(a.gradients[i].units, shape.unit_parameters, e_.hidden);
    }
  }

  extents e_;
  int device_;
  detail::owned_cublas cublas_;
  detail::network_products<Precision> products_;
  detail::network_steps<Cell, Precision, kinds> steps_;
  sweeps sweeps_;
  detail::lane_set lanes_;
  detail::network_layouts layouts_;
  detail::packed_layout packed_;
};

}  // namespace rnnopt

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "rnnopt/buffers.hpp"
#include "rnnopt/checks.hpp"
#include "rnnopt/host/backward_sink.hpp"
#include "rnnopt/host/forward_sink.hpp"

namespace rnnopt {

/// @brief A recurrent network on the host: the oracle of the GPU executor, and the executor where there is no GPU.
///
/// Same cells, weights and arguments as rnnopt::rnn, in host memory; any precision is emulated by rounding where the
/// GPU rounds. Directions and per-row lengths are supported. Calls run to completion; one object may serve several
/// threads at once with workspaces of their own.
///
/// @tparam Cell       what one hidden unit computes (cell.hpp)
/// @tparam Precision  how numbers are stored and summed (precision.hpp)
/// @tparam Schedule   in which order operations run (schedule.hpp)
template <class Cell, class Precision, class Schedule>
class host_rnn {
  static_assert(detail::require_cell<Cell>::value);
  static_assert(detail::require_precision<Precision>::value);
  static_assert(detail::require_schedule<Schedule>::value);

 public:
  using cell = Cell;
  using precision = Precision;
  using schedule = Schedule;
  using forward_arguments = rnnopt::forward_arguments<Cell, Precision>;
  using backward_arguments = rnnopt::backward_arguments<Cell, Precision>;

  /// @throws logic_error for extents that are out of range or whose sizes do not fit in 64 bits
  explicit host_rnn(extents const& e)
      : e_((detail::check_extents("host_rnn", e, shape, sizes.accumulate), e)),
        layouts_(e, shape, sizes, Schedule::concurrent_layers(net()), {}) {}

  /// @brief The extents this network was built for.
  extents const& network_extents() const { return e_; }

  /// @brief Bytes of workspace a pass needs; exactly that much is enough.
  std::size_t workspace_bytes(pass p) const { return layouts_.workspace_bytes(p); }
  /// @brief Bytes that a training forward leaves for backward.
  std::size_t reserve_bytes() const { return layouts_.reserve_bytes(); }

  /// @brief Bytes of packed weights that runs read: none here, `packed` stays null.
  std::size_t packed_bytes() const { return 0; }

  /// @brief Runs the network and keeps nothing.
  /// @param a  shapes in arguments.hpp; the reserve is not looked at
  /// @throws logic_error before anything is written
  void forward(forward_arguments const& a) const { run_forward("host_rnn::forward", a, false); }

  /// @brief Runs the network and fills the reserve for backward.
  /// @param a  shapes in arguments.hpp
  /// @throws logic_error before anything is written
  void forward_training(forward_arguments const& a) const { run_forward("host_rnn::forward_training", a, true); }

  /// @brief Gradients of x and of the initial states; leaves gate gradients in the workspace.
  /// @param a  shapes in arguments.hpp; `gradients` and `mode` are not looked at
  /// @pre forward_training has filled the reserve from the same weights and lengths.
  /// @throws logic_error before anything is written
  void backward_data(backward_arguments const& a) const { run_backward("host_rnn::backward_data", a, {true, false}); }

  /// @brief Gradients of the weights from the gate gradients that backward_data left in the workspace.
  /// @param a  shapes in arguments.hpp; only x, weights, lengths, gradients, mode, workspace and reserve are looked at
  /// @pre backward_data has run with the same workspace, untouched since, and the same reserve.
  /// @throws logic_error before anything is written
  void weight_gradient(backward_arguments const& a) const {
    run_backward("host_rnn::weight_gradient", a, {false, true});
  }

  /// @brief backward_data and weight_gradient in one run.
  /// @param a  shapes in arguments.hpp
  /// @pre forward_training has filled the reserve from the same weights and lengths.
  /// @throws logic_error before anything is written
  void backward(backward_arguments const& a) const { run_backward("host_rnn::backward", a, {true, true}); }

 private:
  static constexpr cell_shape shape = detail::shape_of<Cell>();
  static constexpr detail::element_sizes sizes = detail::sizes_of<Precision>();

  network net() const { return {e_.layers, e_.directions, e_.steps, shape.input_gates, shape.recurrent_gates}; }

  void check_lengths(char const* where, std::int32_t const* lengths) const {
    for (std::int64_t row = 0; lengths != nullptr && row < e_.batch; ++row)
      if (lengths[row] < 0 || lengths[row] > e_.steps)
        detail::fail(errc::length_out_of_range, where,
                     "lengths[" + std::to_string(row) + "] is " + std::to_string(lengths[row]) + ", needs 0 to " +
                         std::to_string(e_.steps));
  }

  void run_forward(char const* where, forward_arguments const& a, bool training) const {
    pass const p = training ? pass::training : pass::inference;
    detail::check_forward(where, a, e_, workspace_bytes(p), training ? reserve_bytes() : 0, packed_bytes());
    check_lengths(where, a.lengths);
    detail::forward_buffers<Cell, Precision> const buffers(e_, layouts_, a, training);
    detail::host_forward_sink<Cell, Precision> sink(a, buffers);
    sink.begin();
    Schedule::forward(net(), sink);
    sink.end();
  }

  void run_backward(char const* where, backward_arguments const& a, gradient_request wanted) const {
    detail::check_backward(where, a, e_, wanted, workspace_bytes(pass::backward), reserve_bytes(), packed_bytes());
    check_lengths(where, a.lengths);
    detail::backward_buffers<Cell, Precision> const buffers(e_, layouts_, a);
    detail::host_backward_sink<Cell, Precision> sink(a, buffers);
    if (wanted.data) sink.begin();
    Schedule::backward(net(), wanted, sink);
    if (wanted.data) sink.end();
  }

  extents e_;
  detail::network_layouts layouts_;
};

}  // namespace rnnopt

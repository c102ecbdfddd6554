#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rnnopt/device/chain_timer.cuh"
#include "rnnopt/device/step_gradient.cuh"
#include "rnnopt/device/step_launch.cuh"
#include "rnnopt/extents.hpp"

namespace rnnopt::detail {

/// Runs the steps of a network on memory of its own, to time them while it is planned.
template <class Cell, class Precision>
class step_rehearsal {
  using traits = cell_traits<Cell>;
  using gates = typename traits::gates;
  using storage = typename Precision::storage;
  using accumulate = typename Precision::accumulate;
  using state = typename Precision::state;

 public:
  static constexpr int steps = 12;

  step_rehearsal(extents const& e, int lanes) : e_(e), timer_(lanes) {
    char const* const where = "rehearsing a step";
    std::size_t const weights =
        std::size_t((gates::recurrent_count * e.hidden + traits::unit_parameters) * e.hidden) * sizeof(storage);
    std::size_t const planes = std::size_t((std::max)(forward_in(nullptr).bytes, backward_in(nullptr).bytes));
    for (int lane = 0; lane < lanes; ++lane) {
      weights_.push_back(allocate(weights, where));
      planes_.push_back(allocate(planes, where));
      require_success(cudaMemsetAsync(weights_.back().get(), 0, weights, timer_.stream()), where);
      require_success(cudaMemsetAsync(planes_.back().get(), 0, planes, timer_.stream()), where);
    }
  }

  /// Milliseconds of `steps` steps on every lane.
  double forward(step_launch<step_arguments<Cell, Precision>> const& l) const {
    return timer_.time([&](cudaStream_t stream, int lane) {
      forward_memory m = forward_in(planes_[std::size_t(lane)].get());
      auto const* const r = static_cast<storage const*>(weights_[std::size_t(lane)].get());
      m.cell.units = r;
      for (int step = 0; step < steps; ++step) {
        m.cell.h_before = m.h[step % 2];
        m.cell.h_after = m.h[(step + 1) % 2];
        launch_step(stream, l,
                    step_arguments<Cell, Precision>{
                        describe_step(l, m.cell.h_before, r, e_.batch, e_.hidden, e_.hidden), m.cell},
                    step > 0, "rehearsing a step");
      }
      return true;
    });
  }

  /// Milliseconds of the gradients of `steps` steps on every lane.
  double backward(step_launch<step_gradient_arguments<Cell, Precision>> const& l) const {
    return timer_.time([&](cudaStream_t stream, int lane) {
      backward_memory m = backward_in(planes_[std::size_t(lane)].get());
      auto const* const r = static_cast<storage const*>(weights_[std::size_t(lane)].get());
      m.cell.units = r;
      for (int step = 0; step < steps; ++step) {
        m.cell.recurrent_gate_gradients = m.following[(step + 1) % 2];
        if (gates::same_rows) m.cell.input_gate_gradients = m.cell.recurrent_gate_gradients;
        launch_step(stream, l,
                    step_gradient_arguments<Cell, Precision>{
                        describe_step(l, static_cast<storage const*>(m.following[step % 2]), r, e_.batch, e_.hidden,
                                      gates::recurrent_count * e_.hidden),
                        m.cell},
                    step > 0, "rehearsing a step's gradient");
      }
      return true;
    });
  }

 private:
  /// Hands out consecutive pieces of memory, each aligned to 16 bytes; without memory it only counts.
  struct cutter {
    void* base;
    std::int64_t bytes = 0;

    template <class T>
    T* take(std::int64_t count) {
      T* const result = base == nullptr ? nullptr : reinterpret_cast<T*>(static_cast<std::byte*>(base) + bytes);
      bytes += (count * std::int64_t(sizeof(T)) + 15) / 16 * 16;
      return result;
    }
  };

  struct forward_memory {
    pointwise_arguments<Cell, Precision> cell{};
    storage* h[2];  ///< before and after, in turns
    std::int64_t bytes;
  };
  forward_memory forward_in(void* base) const {
    cutter cut{base};
    std::int64_t const plane = e_.batch * e_.hidden;
    forward_memory m;
    m.cell.input_products = cut.template take<accumulate>(plane * gates::input_count);
    for (auto& h : m.h) h = cut.template take<storage>(plane);
    for (int s = 1; s < traits::states; ++s)
      m.cell.before[s - 1] = m.cell.after[s - 1] = cut.template take<state>(plane);
    m.cell.saved = cut.template take<storage>(plane * gates::count);
    m.cell.batch = std::int32_t(e_.batch);
    m.cell.hidden = std::int32_t(e_.hidden);
    m.bytes = cut.bytes;
    return m;
  }

  struct backward_memory {
    pointwise_gradient_arguments<Cell, Precision> cell{};
    storage* following[2];  ///< gate gradients of the following step and of this one, in turns
    std::int64_t bytes;
  };
  backward_memory backward_in(void* base) const {
    cutter cut{base};
    std::int64_t const plane = e_.batch * e_.hidden;
    backward_memory m;
    m.cell.state_gradients = cut.template take<accumulate>(plane * traits::states);
    m.cell.unit_gradients = cut.template take<accumulate>(plane * traits::unit_parameters);
    m.cell.saved = cut.template take<storage>(plane * gates::count);
    m.cell.h_before = cut.template take<storage>(plane);
    for (int s = 1; s < traits::states; ++s) m.cell.before[s - 1] = cut.template take<state>(plane);
    for (auto& f : m.following) f = cut.template take<storage>(plane * gates::recurrent_count);
    m.cell.input_gate_gradients = cut.template take<storage>(plane * gates::input_count);
    m.cell.batch = std::int32_t(e_.batch);
    m.cell.hidden = std::int32_t(e_.hidden);
    m.bytes = cut.bytes;
    return m;
  }

  extents e_;
  chain_timer timer_;
  std::vector<owned_memory> weights_;
  std::vector<owned_memory> planes_;
};

}  // namespace rnnopt::detail

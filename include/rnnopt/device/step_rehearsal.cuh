#pragma once

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
    std::size_t const plane = std::size_t(e.batch * e.hidden);
    std::size_t const weights =
        std::size_t((gates::recurrent_count * e.hidden + traits::unit_parameters) * e.hidden) * sizeof(storage);
    std::size_t const planes =
        plane * (gates::input_count + 2 * traits::states + traits::unit_parameters) * sizeof(accumulate) +
        plane * (2 * gates::count + gates::recurrent_count + 4) * sizeof(storage) * 2 + 1024;
    for (int lane = 0; lane < lanes; ++lane) {
      weights_.push_back(allocate(weights, where));
      planes_.push_back(allocate(planes, where));
      require_success(cudaMemsetAsync(weights_.back().get(), 0, weights, timer_.stream()), where);
      require_success(cudaMemsetAsync(planes_.back().get(), 0, planes, timer_.stream()), where);
    }
  }

  double forward(step_launch<step_arguments<Cell, Precision>> const& l) const {
    return timer_.time([&](cudaStream_t stream, int lane) {
      cutter cut{static_cast<std::byte*>(planes_[std::size_t(lane)].get())};
      std::int64_t const plane = e_.batch * e_.hidden;
      pointwise_arguments<Cell, Precision> cell{};
      cell.input_products = cut.template take<accumulate>(plane * gates::input_count);
      storage* h[2] = {cut.template take<storage>(plane), cut.template take<storage>(plane)};
      for (int s = 1; s < traits::states; ++s) cell.before[s - 1] = cell.after[s - 1] = cut.template take<state>(plane);
      cell.saved = cut.template take<storage>(plane * gates::count);
      cell.units = static_cast<storage const*>(weights_[std::size_t(lane)].get());
      cell.batch = std::int32_t(e_.batch);
      cell.hidden = std::int32_t(e_.hidden);
      auto const* const r = static_cast<storage const*>(weights_[std::size_t(lane)].get());
      for (int step = 0; step < steps; ++step) {
        cell.h_before = h[step % 2];
        cell.h_after = h[(step + 1) % 2];
        launch_step(
            stream, l,
            step_arguments<Cell, Precision>{describe_step(l, cell.h_before, r, e_.batch, e_.hidden, e_.hidden), cell},
            step > 0, "rehearsing a step");
      }
      return true;
    });
  }

  double backward(step_launch<step_gradient_arguments<Cell, Precision>> const& l) const {
    return timer_.time([&](cudaStream_t stream, int lane) {
      cutter cut{static_cast<std::byte*>(planes_[std::size_t(lane)].get())};
      std::int64_t const plane = e_.batch * e_.hidden;
      pointwise_gradient_arguments<Cell, Precision> cell{};
      cell.state_gradients = cut.template take<accumulate>(plane * traits::states);
      cell.unit_gradients = cut.template take<accumulate>(plane * traits::unit_parameters);
      cell.saved = cut.template take<storage>(plane * gates::count);
      cell.h_before = cut.template take<storage>(plane);
      for (int s = 1; s < traits::states; ++s) cell.before[s - 1] = cut.template take<state>(plane);
      storage* following[2] = {cut.template take<storage>(plane * gates::recurrent_count),
                               cut.template take<storage>(plane * gates::recurrent_count)};
      cell.input_gate_gradients = cut.template take<storage>(plane * gates::input_count);
      cell.units = static_cast<storage const*>(weights_[std::size_t(lane)].get());
      cell.batch = std::int32_t(e_.batch);
      cell.hidden = std::int32_t(e_.hidden);
      auto const* const r = static_cast<storage const*>(weights_[std::size_t(lane)].get());
      for (int step = 0; step < steps; ++step) {
        cell.recurrent_gate_gradients = following[(step + 1) % 2];
        if (gates::same_rows) cell.input_gate_gradients = cell.recurrent_gate_gradients;
        launch_step(stream, l,
                    step_gradient_arguments<Cell, Precision>{
                        describe_step(l, static_cast<storage const*>(following[step % 2]), r, e_.batch, e_.hidden,
                                      gates::recurrent_count * e_.hidden),
                        cell},
                    step > 0, "rehearsing a step's gradient");
      }
      return true;
    });
  }

 private:
  /// Hands out consecutive pieces of memory, each aligned to 16 bytes.
  struct cutter {
    std::byte* next;
    template <class T>
    T* take(std::int64_t count) {
      T* const result = reinterpret_cast<T*>(next);
      next += (count * std::int64_t(sizeof(T)) + 15) / 16 * 16;
      return result;
    }
  };

  extents e_;
  chain_timer timer_;
  std::vector<owned_memory> weights_;
  std::vector<owned_memory> planes_;
};

}  // namespace rnnopt::detail

#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "rnnopt/device/training_rehearsal.cuh"
#include "rnnopt/rnn.cuh"
#include "rnnopt/schedules/options.hpp"

namespace rnnopt {

namespace schedules {

/// @brief The first of several schedules that fits a network and a GPU, or the fastest of those that fit.
///
/// For rnn alone, which compiles all of them and chooses one when it is planned; host_rnn takes one of them.
///
/// @tparam Schedules  in the order of preference; where the last has no sweeps, one always fits
template <class... Schedules>
struct best_of {};

}  // namespace schedules

/// @brief What became of one of the schedules of schedules::best_of.
struct schedule_alternative {
  std::string schedule;  ///< its type, as the compiler writes it
  bool fits = false;
  bool chosen = false;
  std::string why;  ///< the reason why it does not fit, was chosen, or was not; the time that it took where measured
};

namespace detail {

/// A type as the compiler writes it.
template <class Type>
char const* signature_with() {
  return static_cast<char const*>(__PRETTY_FUNCTION__);
}
template <class Type>
std::string name_of() {
  std::string const signature = signature_with<Type>();  // ends in "[with Type = name]", without "with" by clang++
  std::string const before = "Type = ";
  std::size_t const first = signature.find(before) + before.size();
  return signature.substr(first, signature.rfind(']') - first);
}

}  // namespace detail

/// @brief A recurrent network planned under one of several schedules, with the interface of rnn under any.
///
/// What rnn says holds here too, of the schedule that was chosen when the plan was made: sizes in bytes and bits of
/// results are that schedule's. Without measuring it is the first that fits, which depends on device and extents alone.
///
/// @tparam Cell       what one hidden unit computes (cell.hpp)
/// @tparam Precision  how numbers are stored and summed (precision.hpp)
/// @tparam Schedules  what to choose from, in the order of preference (schedule.hpp)
template <class Cell, class Precision, class... Schedules>
class rnn<Cell, Precision, schedules::best_of<Schedules...>> {
  static_assert(sizeof...(Schedules) > 0,
                "rnnopt: best_of has no schedule to choose; write those to choose from, in the order of preference");
  static_assert(((schedules::detail::count_of<Schedules, Schedules...> == 1) && ...),
                "rnnopt: best_of is given a schedule twice; write it once");

 public:
  using cell = Cell;
  using precision = Precision;
  using schedule = schedules::best_of<Schedules...>;
  using forward_arguments = rnnopt::forward_arguments<Cell, Precision>;
  using backward_arguments = rnnopt::backward_arguments<Cell, Precision>;

  /// @brief Plans on the current device.
  /// @param e        as for rnn under any schedule
  /// @param options  how the schedule, too, is chosen: product_choice::heuristic takes the first that fits; the others
  ///                 take the one that runs forward_training and backward, one after the other, captured in a graph, in
  ///                 the least time. Timing takes the memory of both passes and of two plans while it lasts; two plans
  ///                 may then choose different schedules. A network of no rows or steps has nothing to time.
  /// @throws logic_error as rnn under any schedule, and does_not_fit with the reasons of all where none fits;
  ///         cuda_error, cublas_error
  explicit rnn(extents const& e, plan_options const& options = {}) : alternatives_(considered(e)) {
    if (std::string const reasons = misfit_of(alternatives_); !reasons.empty())
      detail::fail(errc::does_not_fit, "rnn", "no schedule of best_of fits; " + reasons, detail::misfit_hint);
    bool const timed = options.products != product_choice::heuristic && e.steps > 0 && e.batch > 0;
    choose(e, options, timed, std::index_sequence_for<Schedules...>());
    alternatives_[chosen()].chosen = true;
  }

  /// @brief Which of the schedules was chosen, counted from 0 in the order written.
  std::size_t chosen() const { return network_->index(); }

  /// @brief Each schedule in the order written: whether it fits, whether it was chosen, and why.
  std::vector<schedule_alternative> const& report() const { return alternatives_; }

  /// @brief The extents this network was planned for.
  extents const& network_extents() const {
    return std::visit([](auto const& network) -> extents const& { return network.network_extents(); }, *network_);
  }

  /// @brief Whether the steps that the chosen schedule emits run as one kernel each.
  bool runs_fused_steps() const {
    return std::visit([](auto const& network) { return network.runs_fused_steps(); }, *network_);
  }

  /// @brief Why no schedule fits such a network on the current device, each with its reason; empty where one does.
  /// @param e  as for the constructor, which refuses with these reasons
  /// @throws logic_error for extents that the constructor refuses for other reasons, and where there is no GPU;
  ///         cuda_error
  static std::string misfit(extents const& e) { return misfit_of(considered(e)); }

  /// @brief Bytes of workspace a pass needs; exactly that much is enough. Depends on types, extents and chosen().
  std::size_t workspace_bytes(pass p) const {
    return std::visit([&](auto const& network) { return network.workspace_bytes(p); }, *network_);
  }
  /// @brief Bytes that a training forward leaves for backward.
  std::size_t reserve_bytes() const {
    return std::visit([](auto const& network) { return network.reserve_bytes(); }, *network_);
  }
  /// @brief Bytes of packed weights that every run reads; 0 where the chosen schedule takes the weights as they are.
  std::size_t packed_bytes() const {
    return std::visit([](auto const& network) { return network.packed_bytes(); }, *network_);
  }

  /// @brief Fills `packed` from the weights, for as many runs as there are until the weights change.
  ///
  /// Enqueued on `stream`; returns before it has run. Does nothing where packed_bytes() is 0.
  /// @param stream   stream of the plan's device
  /// @param weights  as in forward_arguments
  /// @param packed   packed_bytes(), 16-byte aligned; null where that is 0
  /// @throws logic_error before anything is enqueued; cuda_error
  void pack(cudaStream_t stream, line_weights<typename Precision::storage const> const* weights,
            memory const& packed) const {
    std::visit([&](auto const& network) { network.pack(stream, weights, packed); }, *network_);
  }

  /// @brief Runs the network and keeps nothing.
  ///
  /// Enqueued on `stream`; returns before it has run.
  /// @param stream  stream of the plan's device
  /// @param a       shapes in arguments.hpp; the reserve is not looked at
  /// @throws logic_error before anything is enqueued; cuda_error, cublas_error
  void forward(cudaStream_t stream, forward_arguments const& a) const {
    std::visit([&](auto const& network) { network.forward(stream, a); }, *network_);
  }

  /// @brief Runs the network and fills the reserve for backward.
  ///
  /// Enqueued on `stream`; returns before it has run.
  /// @param stream  stream of the plan's device
  /// @param a       shapes in arguments.hpp
  /// @throws logic_error before anything is enqueued; cuda_error, cublas_error
  void forward_training(cudaStream_t stream, forward_arguments const& a) const {
    std::visit([&](auto const& network) { network.forward_training(stream, a); }, *network_);
  }

  /// @brief Gradients of x and of the initial states; leaves gate gradients in the workspace.
  ///
  /// Enqueued on `stream`; returns before it has run.
  /// @param stream  stream of the plan's device
  /// @param a       shapes in arguments.hpp; `gradients` and `mode` are not looked at
  /// @pre forward_training has filled the reserve from the same weights.
  /// @throws logic_error before anything is enqueued; cuda_error, cublas_error
  void backward_data(cudaStream_t stream, backward_arguments const& a) const {
    std::visit([&](auto const& network) { network.backward_data(stream, a); }, *network_);
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
    std::visit([&](auto const& network) { network.weight_gradient(stream, a); }, *network_);
  }

  /// @brief backward_data and weight_gradient in one run.
  ///
  /// Enqueued on `stream`; returns before it has run.
  /// @param stream  stream of the plan's device
  /// @param a       shapes in arguments.hpp
  /// @pre forward_training has filled the reserve from the same weights.
  /// @throws logic_error before anything is enqueued; cuda_error, cublas_error
  void backward(cudaStream_t stream, backward_arguments const& a) const {
    std::visit([&](auto const& network) { network.backward(stream, a); }, *network_);
  }

 private:
  using networks = std::variant<rnn<Cell, Precision, Schedules>...>;

  /// Which schedules fit, and why the others do not.
  static std::vector<schedule_alternative> considered(extents const& e) {
    std::vector<schedule_alternative> all;
    auto const consider = [&](std::string const& name, std::string const& misfit) {
      all.push_back({name, misfit.empty(), false, misfit});
    };
    (consider(detail::name_of<Schedules>(), rnn<Cell, Precision, Schedules>::misfit(e)), ...);
    return all;
  }

  /// The reasons of all, or nothing where one fits.
  static std::string misfit_of(std::vector<schedule_alternative> const& all) {
    std::string reasons;
    for (schedule_alternative const& a : all) {
      if (a.fits) return {};
      reasons += (reasons.empty() ? "" : "; ") + a.schedule + ": " + a.why;
    }
    return reasons;
  }

  template <std::size_t... Index>
  void choose(extents const& e, plan_options const& options, bool timed, std::index_sequence<Index...>) {
    double least = 0;
    (plan_alternative<Index>(e, options, timed, least), ...);
  }

  /// Keeps the plan under a schedule that fits if it is better than the one there is; `least`: what that one takes.
  template <std::size_t Index>
  void plan_alternative(extents const& e, plan_options const& options, bool timed, double& least) {
    if (!alternatives_[Index].fits) return;
    std::string& why = alternatives_[Index].why;
    why = network_ ? "comes after one that fits" : "the first that fits";
    if (network_ && !timed) return;
    auto candidate = std::make_unique<networks>(std::in_place_index<Index>, e, options);
    if (timed) {
      double const now = detail::rehearse_training(std::get<Index>(*candidate));
      char text[64];
      std::snprintf(text, sizeof text, "forward_training and backward take %.4g ms", now);
      why = text;
      if (network_ && now >= least) return;
      least = now;
    }
    network_ = std::move(candidate);
  }

  std::vector<schedule_alternative> alternatives_;
  std::unique_ptr<networks> network_;
};

}  // namespace rnnopt

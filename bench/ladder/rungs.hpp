#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "rnnopt/schedules/naive.hpp"
#include "rnnopt/schedules/options.hpp"
#include "rnnopt/schedules/stepwise.hpp"
#include "rnnopt/schedules/wavefront.hpp"

namespace bench::ladder {

/// One rung of the ladder: a schedule, which differs from that of another rung in what is said of it.
template <class Schedule>
struct rung {
  using type = Schedule;
  char const* name;       ///< by which programs ask for it, the same in all of them
  char const* schedule;   ///< the type as it is written in a program
  char const* change;     ///< what is new about it
  double paper_speedup;   ///< over the lowest rung; 0 past the paper
  char const* same_as{};  ///< name of the rung of which it runs the same operations in another order, to the same bits
};

namespace detail {

using namespace rnnopt::schedules;

/// Appleyard et al. 2016, table 1: LSTM, hidden 512, batch 64, 100 steps, fp32, forward, on a Tesla M40. One layer, but
/// for the wavefront of four.
inline constexpr std::tuple paper_rungs{
    rung<naive>{"naive", "naive", "a product for each gate, a kernel for each operation of the cell", 1.0},
    rung<stepwise<elementwise, input_steps<1>>>{"combined_gates", "stepwise<elementwise, input_steps<1>>",
                                                "one product for all gates", 2.1},
    rung<stepwise<elementwise, input_steps<1>, overlapped>>{
        "overlapped_products", "stepwise<elementwise, input_steps<1>, overlapped>",
        "input products run beside the recurrence", 2.8, "combined_gates"},
    rung<stepwise<input_steps<1>, overlapped>>{"combined_elementwise", "stepwise<input_steps<1>, overlapped>",
                                               "one kernel for all of the cell", 5.5},
    rung<stepwise<input_steps<1>, overlapped, transposed_weights>>{
        "transposed_weights", "stepwise<input_steps<1>, overlapped, transposed_weights>",
        "products read transposed weights", 6.3},
    rung<stepwise<input_steps<2>, overlapped, transposed_weights>>{
        "two_input_steps", "stepwise<input_steps<2>, overlapped, transposed_weights>",
        "input products of two steps are one", 6.5},
    rung<wavefront<input_steps<2>, overlapped, transposed_weights, prioritised>>{
        "prioritised_wavefront", "wavefront<input_steps<2>, overlapped, transposed_weights, prioritised>",
        "layers run at the same time, the recurrence first", 11.1},
};

inline constexpr std::tuple further_rungs{
    rung<stepwise<>>{"stepwise", "stepwise<>", "input products of all steps are one, nothing overlapped", 0},
    rung<wavefront<>>{"wavefront", "wavefront<>", "layers run at the same time, input products of 8 steps are one", 0},
    rung<stepwise<fused_steps>>{"stepwise_fused", "stepwise<fused_steps>",
                                "stepwise with recurrent product and cell in one kernel", 0},
    rung<wavefront<fused_steps>>{"wavefront_fused", "wavefront<fused_steps>",
                                 "wavefront with recurrent product and cell in one kernel", 0},
    rung<wavefront<fused_steps, overlapped, prioritised>>{
        "wavefront_fused_overlapped", "wavefront<fused_steps, overlapped, prioritised>",
        "wavefront_fused with input products beside the recurrence, which goes first", 0, "wavefront_fused"},
    rung<wavefront<input_steps<8>, overlapped, transposed_weights, prioritised>>{
        "prioritised_wavefront_of_8", "wavefront<input_steps<8>, overlapped, transposed_weights, prioritised>",
        "the paper's last rung with input products of 8 steps", 0},
    rung<wavefront<input_steps<16>, fused_steps, overlapped, prioritised>>{
        "wavefront_fused_overlapped_of_16", "wavefront<input_steps<16>, fused_steps, overlapped, prioritised>",
        "wavefront_fused_overlapped with input products of 16 steps", 0},
};

}  // namespace detail

/// The ladder, from the bottom: what rnnopt_ladder times and rnnopt_schedule shows. The one place to add another rung.
inline constexpr std::tuple rungs = std::tuple_cat(detail::paper_rungs, detail::further_rungs);

/// What the report needs to know of a rung.
struct rung_description {
  std::string name;
  std::string schedule;
  std::string change;
  double paper_speedup;
  std::string same_as;
};

inline std::vector<rung_description> rung_descriptions() {
  auto const describe = [](auto const& r) {
    return rung_description{r.name, r.schedule, r.change, r.paper_speedup, r.same_as != nullptr ? r.same_as : ""};
  };
  return std::apply([&](auto const&... r) { return std::vector<rung_description>{describe(r)...}; }, rungs);
}

}  // namespace bench::ladder

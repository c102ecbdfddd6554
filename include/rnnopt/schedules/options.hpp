#pragma once

#include <cstdint>
#include <type_traits>

/// What the schedules of this folder may be composed of: `stepwise<input_steps<2>, overlapped>`. Each option is one
/// step of Appleyard et al. 2016, or one beyond them, and can be switched alone.

namespace rnnopt::schedules {

/// @brief One product for each gate; without it, the gates of W are one product and those of R another (section 2.1.1).
struct gate_products {};

/// @brief One kernel for each arithmetic operation of the cell; without it, one for all of them (section 2.1.3).
struct elementwise {};

/// @brief Recurrent product and cell in one kernel a step, backward too.
struct fused_steps {};

/// @brief What is off the recurrence (input products, input gradients, weight gradients) runs beside it, on lanes of
/// its own (section 2.1.2).
struct overlapped {};

/// @brief Products read transposed copies of W and R, packed by the caller whenever the weights change (section 2.2.1).
struct transposed_weights {};

/// @brief Input products and input gradients of so many steps are one product (section 2.2.2).
template <std::int64_t Steps>
struct input_steps {};

/// @brief The lanes of the recurrence go first where the GPU has to choose.
struct prioritised {};

namespace detail {

template <class Option>
struct steps_of {
  static constexpr bool given = false;
  static constexpr std::int64_t value = 0;
};
template <std::int64_t Steps>
struct steps_of<input_steps<Steps>> {
  static constexpr bool given = true;
  static constexpr std::int64_t value = Steps;
};

template <class T, class... List>
inline constexpr int count_of = (0 + ... + (std::is_same_v<T, List> ? 1 : 0));

template <class Option>
inline constexpr bool is_option =
    steps_of<Option>::given || count_of<Option, gate_products, schedules::elementwise, fused_steps,
                                        schedules::overlapped, transposed_weights, schedules::prioritised> == 1;

/// What a list of options says.
template <class... Options>
struct options {
  static constexpr bool gate_by_gate = count_of<schedules::gate_products, Options...> > 0;
  static constexpr bool elementwise = count_of<schedules::elementwise, Options...> > 0;
  static constexpr bool fused = count_of<schedules::fused_steps, Options...> > 0;
  static constexpr bool overlapped = count_of<schedules::overlapped, Options...> > 0;
  static constexpr bool transposed = count_of<schedules::transposed_weights, Options...> > 0;
  static constexpr bool prioritised = count_of<schedules::prioritised, Options...> > 0;
  static constexpr bool has_input_steps = (steps_of<Options>::given || ...);
  static constexpr std::int64_t input_steps = (std::int64_t(0) + ... + steps_of<Options>::value);
};

/// One named message for each way in which a list of options can make no sense.
template <class... Options>
struct require_options {
  using given = options<Options...>;
  static_assert((is_option<Options> && ...),
                "rnnopt: the schedule is given something that is no option; write those of schedules/options.hpp");
  static_assert(((count_of<Options, Options...> == 1) && ...) && (0 + ... + int(steps_of<Options>::given)) <= 1,
                "rnnopt: the schedule is given an option twice; write it once");
  static_assert(((!steps_of<Options>::given || steps_of<Options>::value > 0) && ...),
                "rnnopt: input_steps takes no steps together; write input_steps<1> or more");
  static_assert(!(given::elementwise && given::fused),
                "rnnopt: elementwise and fused_steps contradict each other; write one of them");
  static_assert(!(given::gate_by_gate && given::fused),
                "rnnopt: gate_products and fused_steps contradict each other; write one of them");
  static_assert(!given::prioritised || given::overlapped,
                "rnnopt: prioritised has no effect where all lanes are alike; write overlapped, prioritised");
  static constexpr bool value = true;
};

}  // namespace detail
}  // namespace rnnopt::schedules

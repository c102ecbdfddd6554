// expect: ok

#include "rnnopt/tape.hpp"

struct my_cell {
  using gates = rnnopt::gates<rnnopt::feed::both>;
  static constexpr int states = 1;

  template <class Gates, class States>
  RNNOPT_HD static auto step(Gates const& pre, States const& previous) {
    auto const& [a] = pre;
    auto const& [h] = previous;
    auto const grows = a > h;
    auto const next = tanh(a) + select(grows && h != 0, h, 0);
    return rnnopt::pack(select(a > 1, next, -next));
  }
};

void record() {
  rnnopt::detail::forward_tape<my_cell>(true);
  rnnopt::detail::backward_tape<my_cell>({true, true, true});
}

// expect: rnnopt: the cell branches on a number, which schedules::elementwise cannot record; write select(condition, a, b)

#include "rnnopt/tape.hpp"

struct my_cell {
  using gates = rnnopt::gates<rnnopt::feed::both>;
  static constexpr int states = 1;

  template <class Gates, class States>
  RNNOPT_HD static auto step(Gates const& pre, States const& previous) {
    auto const& [a] = pre;
    auto const& [h] = previous;
    bool const grows = a > h;
    auto next = tanh(a) + 0 * h;
    if (grows && h != 0) next = next + h;
    return rnnopt::pack(a > 1 ? next : -next);
  }
};

void record() { rnnopt::detail::forward_tape<my_cell>(true); }

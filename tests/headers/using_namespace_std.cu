// A cell after a using-directive: min and max have to be the library's, on the device, too.
#include <algorithm>

#include "rnnopt/rnnopt.cuh"

using namespace std;

struct bounded {
  using gates = rnnopt::gates<rnnopt::feed::both, rnnopt::feed::input>;
  static constexpr int states = 1;

  template <class Gates, class States>
  RNNOPT_HD static auto step(Gates const& pre, States const& previous) {
    auto const& [a, b] = pre;
    auto const& [h] = previous;
    return rnnopt::pack(max(a, b) + min(h, a) + abs(b) + exp(-max(a, 0.5)));
  }
};

template class rnnopt::rnn<bounded, rnnopt::fp32, rnnopt::schedules::stepwise<>>;

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <vector>

#include "rnnopt/rnnopt_host.hpp"

// One unit, one step: y = tanh(w x).
int main() {
  using network =
      rnnopt::host_rnn<rnnopt::vanilla<rnnopt::activations::tanh>, rnnopt::fp64, rnnopt::schedules::stepwise<>>;
  network const rnn(rnnopt::extents{});

  double const x = 0.5, w = 0.75, r = 0.25;
  double y = 0;
  rnnopt::line_weights<double const> const weights{&w, &r};
  std::vector<std::max_align_t> workspace(rnn.workspace_bytes(rnnopt::pass::inference) / sizeof(std::max_align_t) + 1);

  network::forward_arguments arguments;
  arguments.x = &x;
  arguments.weights = &weights;
  arguments.y = &y;
  arguments.workspace = {workspace.data(), workspace.size() * sizeof(std::max_align_t)};
  rnn.forward(arguments);

  std::printf("rnnopt %d.%d.%d: %.15f\n", RNNOPT_VERSION_MAJOR, RNNOPT_VERSION_MINOR, RNNOPT_VERSION_PATCH, y);
  return std::abs(y - std::tanh(w * x)) < 1e-15 ? 0 : 1;
}

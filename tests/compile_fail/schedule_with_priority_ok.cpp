// expect: ok

#include "rnnopt/cells/lstm.hpp"
#include "rnnopt/host_rnn.hpp"

struct my_schedule {
  static constexpr bool transposed_weights = true;
  static constexpr bool fused_steps = true;
  static constexpr bool elementwise = false;
  static constexpr rnnopt::team sweeps = rnnopt::team::cluster;
  static int priority(rnnopt::network const&, int lane) { return lane; }
  static std::int64_t concurrent_layers(rnnopt::network const&) { return 1; }
  template <class Sink>
  static void forward(rnnopt::network const&, Sink&) {}
  template <class Sink>
  static void backward(rnnopt::network const&, rnnopt::gradient_request, Sink&) {}
};

template class rnnopt::host_rnn<rnnopt::lstm, rnnopt::fp32, my_schedule>;

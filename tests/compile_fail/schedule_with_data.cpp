// expect: rnnopt: the schedule has data members; write an empty struct, all of it static

#include "rnnopt/cells/lstm.hpp"
#include "rnnopt/host_rnn.hpp"

struct my_schedule {
  static std::int64_t concurrent_layers(rnnopt::network const&) { return 1; }
  template <class Sink>
  static void forward(rnnopt::network const&, Sink&) {}
  template <class Sink>
  static void backward(rnnopt::network const&, rnnopt::gradient_request, Sink&) {}
  int lanes = 2;
};

template class rnnopt::host_rnn<rnnopt::lstm, rnnopt::fp32, my_schedule>;

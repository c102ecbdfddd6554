// A schedule of one's own: proven correct for every depth and length that it may meet, then run on the host, where it
// has to give the same bits as a schedule of the library.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "rnnopt/rnnopt_host.hpp"
#include "rnnopt/schedule_check.hpp"

// [custom_schedule]
/// Layers side by side, each on a lane of its own, two steps at a time; for networks of one direction.
struct two_at_a_time {
  static std::int64_t concurrent_layers(rnnopt::network const& n) { return n.layers; }

  template <class Sink>
  static void forward(rnnopt::network const& n, Sink& sink) {
    for (std::int64_t first = 0; first < n.steps; first += 2)
      for (int layer = 0; layer < n.layers; ++layer) {
        int const lane = layer, done = layer, done_below = layer - 1;  // an event is a number
        std::int64_t const end = std::min(first + 2, n.steps);
        if (layer > 0) sink.wait(lane, done_below);
        sink.input_product(lane, {layer, 0}, first, end - first);
        for (std::int64_t step = first; step < end; ++step) {
          sink.recurrent_product(lane, {layer, 0}, step);
          sink.pointwise(lane, {layer, 0}, step);
        }
        sink.signal(lane, done);
      }
  }

  template <class Sink>
  static void backward(rnnopt::network const& n, rnnopt::gradient_request wanted, Sink& sink) {
    rnnopt::schedules::stepwise<>::backward(n, wanted, sink);
  }
};
// [custom_schedule]

/// How many networks the schedule is proven for; 0 if there is one for which it is wrong.
int proven() {
  int networks = 0;
  for (std::int64_t layers = 1; layers <= 6; ++layers)
    for (std::int64_t steps = 0; steps <= 20; ++steps, ++networks) {
      // [check_schedule]
      std::vector<std::string> const wrong = rnnopt::check_schedule<two_at_a_time>({layers, 1, steps});
      // [check_schedule]
      if (wrong.empty()) continue;
      std::printf("layers %d, steps %d: %s\n", int(layers), int(steps), wrong.front().c_str());
      return 0;
    }
  return networks;
}

/// y, dx and the weight gradients of a random LSTM, the same one for every schedule.
template <class Schedule>
std::vector<float> results() {
  using network = rnnopt::host_rnn<rnnopt::lstm, rnnopt::fp32, Schedule>;
  rnnopt::extents const e{3, 8, 16, 4, 7};  // layers, input, hidden, batch, steps
  network const net(e);
  rnnopt::weight_layout<rnnopt::lstm> const layout(e);
  std::size_t const inputs = std::size_t(e.steps * e.batch * e.input),
                    outputs = std::size_t(e.steps * e.batch * e.hidden);

  std::mt19937 random(1);
  auto const drawn = [&](std::size_t count) {
    std::vector<float> values(count);
    for (float& value : values) value = float(double(random()) / 2147483648.0 - 1) / 2;
    return values;
  };
  std::vector<float> const x = drawn(inputs), dy = drawn(outputs), weights = drawn(std::size_t(layout.size()));
  std::vector<float> all(outputs + inputs + weights.size());

  std::vector<std::unique_ptr<std::max_align_t[]>> scratch;
  auto const memory = [&](std::size_t bytes) {
    scratch.push_back(std::make_unique<std::max_align_t[]>(bytes / sizeof(std::max_align_t) + 1));
    return rnnopt::memory{scratch.back().get(), bytes};
  };
  auto const w = layout.bind(weights.data());
  auto const dw = layout.bind(all.data() + outputs + inputs);
  typename network::forward_arguments f;
  f.x = x.data(), f.weights = w.data(), f.y = all.data();
  f.workspace = memory(net.workspace_bytes(rnnopt::pass::training)), f.reserve = memory(net.reserve_bytes());
  net.forward_training(f);
  typename network::backward_arguments b;
  b.x = x.data(), b.weights = w.data(), b.dy = dy.data(), b.dx = all.data() + outputs, b.gradients = dw.data();
  b.workspace = memory(net.workspace_bytes(rnnopt::pass::backward)), b.reserve = f.reserve;
  net.backward(b);
  return all;
}

int main() try {
  int const networks = proven();
  if (networks == 0) return 1;
  std::printf("proven for %d networks\n", networks);
  bool const same = results<two_at_a_time>() == results<rnnopt::schedules::stepwise<>>();
  std::printf(same ? "the same results as stepwise<>\n" : "other results than stepwise<>\n");
  return same ? 0 : 1;
} catch (std::exception const& error) {
  std::fprintf(stderr, "custom_schedule: %s\n", error.what());
  return 1;
}

// What a run promises whatever the cell and the precision: optional pointers, memory, repeated and partial runs.

#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "all_cells.hpp"
#include "host_reference.hpp"

namespace {

using namespace rnnopt_tests;
using rnnopt::extents;

// Each precision once, and cells with and without unit parameters, other states, and gates of every kind.
using subjects = testing::Types<subject<rnnopt::lstm, rnnopt::fp32>, subject<rnnopt::gru, rnnopt::fp16>,
                                subject<cells::peephole_lstm, rnnopt::fp64>, subject<cells::indrnn, rnnopt::bf16>,
                                subject<cells::slstm, rnnopt::tf32>>;

template <class Subject>
struct network : testing::Test {
  /// Calls test(numbers) for several networks, each with and without lengths.
  template <class Test>
  void on_networks(Test const& test) {
    for (extents const& e :
         {extents{1, 4, 6, 3, 5, 1}, extents{2, 4, 6, 3, 5, 2}, extents{3, 3, 33, 5, 7, 1}, extents{2, 1, 1, 1, 3, 2}})
      for (bool const lengths : {false, true}) {
        typename Subject::numbers numbers(e);
        if (lengths) numbers.draw_lengths();
        SCOPED_TRACE(numbers.description() + (lengths ? ", with lengths" : ""));
        test(numbers);
        if (testing::Test::HasFatalFailure()) return;
      }
  }
};
TYPED_TEST_SUITE(network, subjects);

template <class Results>
void expect_same_bits(Results const& a, Results const& b) {
  for (std::string const& failure : different_bits(a, b)) ADD_FAILURE() << failure;
}
/// As same bits, but 0 and -0 are one value.
template <class Results>
void expect_same_values(Results const& a, Results const& b) {
  for (std::string const& failure : beyond(0, a, b)) ADD_FAILURE() << failure;
}
template <class T>
bool is_poisoned(std::vector<T> const& values) {
  std::vector<T> const fresh(values.size(), static_cast<T>(std::numeric_limits<float>::quiet_NaN()));
  return same_bits(values, fresh);
}

TYPED_TEST(network, inference_is_training_bit_for_bit) {
  this->on_networks([](auto const& numbers) {
    typename TypeParam::run training(numbers), inference(numbers);
    training.train();
    inference.infer();
    EXPECT_FALSE(is_poisoned(training.out.y));
    expect_same_bits(training.out, inference.out);
  });
}

TYPED_TEST(network, results_do_not_depend_on_what_memory_held) {
  this->on_networks([](auto const& numbers) {
    typename TypeParam::run poisoned(numbers), zeroed(numbers);
    auto const zero = [](rnnopt::memory const& m) { std::memset(m.data, 0, m.bytes); };
    for (auto* memory : {&zeroed.training_workspace, &zeroed.backward_workspace, &zeroed.reserve})
      zero(memory->memory());
    zeroed.out.for_each(zeroed.out, [](std::string const&, auto const& values, auto const&) {
      std::memset(const_cast<void*>(static_cast<void const*>(values.data())), 0, values.size() * sizeof values[0]);
    });
    poisoned.run();
    zeroed.run();
    expect_same_bits(poisoned.out, zeroed.out);
    for (std::string const& failure : beyond(0, poisoned.out, poisoned.out)) ADD_FAILURE() << failure << " (NaN)";
    poisoned.infer();
    EXPECT_TRUE(poisoned.guards_are_intact() && zeroed.guards_are_intact());
  });
}

TYPED_TEST(network, absent_inputs_are_zeros) {
  using numbers_type = typename TypeParam::numbers;
  struct option {
    char const* name;
    void (*leave_out)(typename TypeParam::run&);
    void (*set_zero)(numbers_type&);
  };
  std::vector<option> const options = {
      {"initial.h", [](auto& run) { run.forward.initial.h = nullptr; },
       [](auto& n) { n.h.assign(n.h.size(), typename numbers_type::storage(0.0F)); }},
      {"initial.others", [](auto& run) { run.forward.initial.others.fill(nullptr); },
       [](auto& n) {
         for (auto& other : n.others) other.assign(other.size(), 0);
       }},
      {"bias",
       [](auto& run) {
         for (auto& line : run.weights) line.bias = nullptr;
       },
       [](auto& n) {
         for (std::int64_t i = 0; i < n.e.lines(); ++i)
           for (auto at = n.layout.line(i).bias; at < n.layout.line(i).units; ++at)
             n.weights[std::size_t(at)] = typename numbers_type::storage(0.0F);
       }},
      {"dy", [](auto& run) { run.backward.dy = nullptr; },
       [](auto& n) { n.dy.assign(n.dy.size(), typename numbers_type::storage(0.0F)); }},
      {"final_gradient.h", [](auto& run) { run.backward.final_gradient.h = nullptr; },
       [](auto& n) { n.dh.assign(n.dh.size(), typename numbers_type::storage(0.0F)); }},
      {"final_gradient.others", [](auto& run) { run.backward.final_gradient.others.fill(nullptr); },
       [](auto& n) {
         for (auto& other : n.dothers) other.assign(other.size(), 0);
       }},
  };
  this->on_networks([&](auto const& numbers) {
    // Each alone, then all of them.
    for (std::size_t chosen = 0; chosen <= options.size(); ++chosen) {
      numbers_type with_zeros = numbers;
      typename TypeParam::run absent(numbers);
      std::string trace;
      for (std::size_t o = 0; o < options.size(); ++o)
        if (chosen == o || chosen == options.size()) {
          options[o].leave_out(absent);
          options[o].set_zero(with_zeros);
          trace += std::string(options[o].name) + " ";
        }
      SCOPED_TRACE(trace);
      typename TypeParam::run present(with_zeros);
      expect_same_values(absent.run().out, present.run().out);
      if (chosen == options.size()) {
        EXPECT_EQ(relative_error(absent.out.dweights, std::vector<double>(absent.out.dweights.size())), 0)
            << "with no gradient coming in, none goes out";
      }
    }
  });
}

TYPED_TEST(network, outputs_may_be_left_out) {
  this->on_networks([](auto const& numbers) {
    typename TypeParam::run full(numbers);
    full.train();
    constexpr std::size_t count = 2 + TypeParam::cell::states - 1;
    for (unsigned wanted = 0; wanted < (1U << count); ++wanted)
      for (bool const training : {false, true}) {
        typename TypeParam::run some(numbers);
        auto expected = results<typename TypeParam::cell, typename TypeParam::precision>(numbers);
        if (wanted & 1U) expected.y = full.out.y;
        else some.forward.y = nullptr;
        if (wanted & 2U) expected.h = full.out.h;
        else some.forward.final.h = nullptr;
        for (std::size_t s = 0; s + 2 < count; ++s)
          if (wanted & (4U << s)) expected.others[s] = full.out.others[s];
          else some.forward.final.others[s] = nullptr;
        if (training) some.train();
        else some.infer();
        expect_same_bits(some.out, expected);
      }
  });
}

TYPED_TEST(network, every_subset_of_gradients_equals_the_full_run) {
  using results_type = results<typename TypeParam::cell, typename TypeParam::precision>;
  this->on_networks([](auto const& numbers) {
    typename TypeParam::run full(numbers);
    full.run();
    ASSERT_FALSE(is_poisoned(full.out.dx));
    constexpr std::size_t others = TypeParam::cell::states - 1, count = 6 + others;
    if (count > 8 && numbers.e.hidden > 6) return;  // 512 subsets
    for (unsigned wanted = 1; wanted < (1U << count); ++wanted) {
      typename TypeParam::run some(numbers);
      some.train();
      some.out = results_type(numbers);  // the forward results are not looked at
      results_type expected(numbers);
      // Buffers have moved.
      auto& b = some.backward;
      some.gradients = some.in.layout.bind(some.out.dweights.data());
      b.gradients = some.gradients.data();
      b.dx = wanted & 1U ? some.out.dx.data() : nullptr;
      b.initial_gradient.h = wanted & 2U ? some.out.dh.data() : nullptr;
      if (wanted & 1U) expected.dx = full.out.dx;
      if (wanted & 2U) expected.dh = full.out.dh;
      for (std::size_t s = 0; s < others; ++s) {
        bool const want = (wanted & (64U << s)) != 0;
        b.initial_gradient.others[s] = want ? some.out.dothers[s].data() : nullptr;
        if (want) expected.dothers[s] = full.out.dothers[s];
      }
      for (std::int64_t i = 0; i < numbers.e.lines(); ++i) {
        auto const& o = numbers.layout.line(i);
        auto& line = some.gradients[std::size_t(i)];
        auto const take = [&](unsigned bit, auto*& pointer, std::int64_t from, std::int64_t to) {
          if ((wanted & bit) == 0) pointer = nullptr;
          else
            std::copy(full.out.dweights.begin() + from, full.out.dweights.begin() + to,
                      expected.dweights.begin() + from);
        };
        take(4U, line.input, o.input, o.recurrent);
        take(8U, line.recurrent, o.recurrent, o.bias);
        take(16U, line.bias, o.bias, o.units);
        take(32U, line.units, o.units, o.end);
      }
      some.net.backward(b);
      for (std::string const& failure : different_bits(some.out, expected))
        ADD_FAILURE() << failure << ", subset " << wanted;
    }
  });
}

TYPED_TEST(network, data_pass_and_weight_pass_make_the_whole_backward) {
  this->on_networks([](auto const& numbers) {
    typename TypeParam::run whole(numbers), parts(numbers);
    whole.run();
    parts.train();
    parts.net.backward_data(parts.backward);
    EXPECT_TRUE(is_poisoned(parts.out.dweights));
    parts.net.weight_gradient(parts.backward);
    expect_same_bits(whole.out, parts.out);
    // Without weight gradients x and the array of gradients are not needed.
    typename TypeParam::run data(numbers);
    data.train();
    data.backward.x = nullptr;
    data.backward.gradients = nullptr;
    data.net.backward_data(data.backward);
    data.out.dweights = whole.out.dweights;
    expect_same_bits(whole.out, data.out);
  });
}

TYPED_TEST(network, a_second_backward_gives_the_same_bits_and_leaves_the_reserve) {
  this->on_networks([](auto const& numbers) {
    typename TypeParam::run run(numbers);
    run.train();
    auto const reserve = run.reserve.content();
    run.net.backward(run.backward);
    auto const first = run.out;
    run.backward_workspace.poison();
    run.net.backward(run.backward);
    expect_same_bits(run.out, first);
    EXPECT_EQ(run.reserve.content(), reserve);
    EXPECT_FALSE(is_poisoned(first.dweights));
  });
}

TYPED_TEST(network, gradients_accumulate_or_overwrite) {
  using accumulate = typename TypeParam::precision::accumulate;
  this->on_networks([](auto const& numbers) {
    typename TypeParam::run once(numbers), added(numbers);
    once.run();
    std::mt19937_64 generator(numbers.seed);
    std::normal_distribution<double> normal;
    for (auto& value : added.out.dweights) value = static_cast<accumulate>(normal(generator));
    std::vector<double> expected(added.out.dweights.begin(), added.out.dweights.end());
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += double(once.out.dweights[i]);
    added.backward.mode = rnnopt::gradient_mode::accumulate;
    added.run();
    double const roundings = 20 * double(std::numeric_limits<accumulate>::epsilon());
    EXPECT_LE(relative_error(added.out.dweights, expected), roundings);
    // All other gradients are overwritten in both modes.
    added.out.dweights = once.out.dweights;
    expect_same_bits(added.out, once.out);
    // On zeros both modes are the same.
    typename TypeParam::run on_zeros(numbers);
    on_zeros.out.dweights.assign(on_zeros.out.dweights.size(), 0);
    on_zeros.gradients = numbers.layout.bind(on_zeros.out.dweights.data());
    on_zeros.backward.gradients = on_zeros.gradients.data();
    on_zeros.backward.mode = rnnopt::gradient_mode::accumulate;
    expect_same_values(on_zeros.run().out, once.out);
  });
}

TYPED_TEST(network, nothing_to_do_is_defined) {
  for (extents const& e : {extents{2, 4, 6, 3, 0, 2}, extents{2, 4, 6, 0, 5, 2}, extents{1, 4, 6, 0, 0, 1}})
    for (bool const lengths : {false, true})
      for (bool const initial : {false, true}) {
        typename TypeParam::numbers numbers(e);
        if (lengths) numbers.draw_lengths();
        SCOPED_TRACE(numbers.description());
        typename TypeParam::run run(numbers);
        // x, y and dy have no elements, and a vector without elements may have no address.
        if (!initial) run.forward.initial = {};
        run.infer();
        auto const inferred = run.out;
        run.run();
        expect_same_bits(inferred, [&] {
          auto forward_only = run.out;
          forward_only.dx = inferred.dx, forward_only.dh = inferred.dh, forward_only.dothers = inferred.dothers;
          forward_only.dweights = inferred.dweights;
          return forward_only;
        }());
        // States pass through, and so do their gradients.
        using storage = typename TypeParam::precision::storage;
        EXPECT_TRUE(same_bits(run.out.h, initial ? numbers.h : std::vector<storage>(numbers.h.size(), storage(0.0F))));
        EXPECT_TRUE(same_bits(run.out.dh, numbers.dh));
        for (std::size_t s = 0; s < numbers.other_states; ++s) {
          if (initial) {
            EXPECT_TRUE(same_bits(run.out.others[s], numbers.others[s]));
          }
          EXPECT_TRUE(same_bits(run.out.dothers[s], numbers.dothers[s]));
        }
        EXPECT_EQ(relative_error(run.out.dweights, std::vector<double>(run.out.dweights.size())), 0);
        run.out.dweights.assign(run.out.dweights.size(), 3);
        run.backward.mode = rnnopt::gradient_mode::accumulate;
        run.net.backward(run.backward);
        EXPECT_EQ(relative_error(run.out.dweights, std::vector<double>(run.out.dweights.size(), 3)), 0);
        EXPECT_TRUE(run.guards_are_intact());
      }
}

TYPED_TEST(network, one_object_serves_several_threads) {
  typename TypeParam::numbers const numbers(extents{2, 4, 40, 8, 6, 1});
  SCOPED_TRACE(numbers.description());
  typename TypeParam::run alone(numbers), one(numbers), two(numbers);
  alone.run();
  auto const work = [&](typename TypeParam::run& run) {
    for (int repeat = 0; repeat < 5; ++repeat) {
      run.forward.workspace = run.training_workspace.memory();
      alone.net.forward_training(run.forward);
      alone.net.backward(run.backward);
    }
  };
  std::thread first([&] { work(one); }), second([&] { work(two); });
  first.join();
  second.join();
  expect_same_bits(one.out, alone.out);
  expect_same_bits(two.out, alone.out);
}

}  // namespace

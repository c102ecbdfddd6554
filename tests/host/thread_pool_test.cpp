#include "rnnopt/host/thread_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "seeded.hpp"

namespace {

using rnnopt::detail::thread_pool;
using rnnopt_tests::seeded;

TEST(thread_pool, calls_every_index_once) {
  for (std::int64_t count : {-1, 0, 1, 2, 3, 7, 63, 64, 65, 1000, 100003}) {
    std::vector<std::atomic<int>> calls(static_cast<std::size_t>(std::max<std::int64_t>(count, 0)));
    thread_pool::instance().parallel_for(count, [&](std::int64_t i) { ++calls[static_cast<std::size_t>(i)]; });
    for (auto const& times : calls) ASSERT_EQ(times, 1) << count;
  }
}

TEST(thread_pool, keeps_consecutive_loops_apart) {
  // Loops of different bodies and counts in quick succession, with pauses after which the workers sleep.
  seeded source;
  for (int repeat = 0; repeat < 20000; ++repeat) {
    std::int64_t const count = source.integer(2, 9);
    std::atomic<std::int64_t> sum{0};
    if (repeat % 2 == 0) {
      thread_pool::instance().parallel_for(count, [&sum](std::int64_t i) { sum += i; });
    } else {
      thread_pool::instance().parallel_for(count, [&sum, repeat](std::int64_t i) { sum += i + repeat; });
    }
    ASSERT_EQ(sum, count * (count - 1) / 2 + (repeat % 2) * count * repeat);
    if (repeat % 1000 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

TEST(thread_pool, uses_several_threads_where_there_are) {
  if (thread_pool::instance().threads() == 1) GTEST_SKIP() << "this machine has one processor";
  // Each index waits for the other to begin: with one thread this would not end.
  std::atomic<int> begun{0};
  thread_pool::instance().parallel_for(2, [&](std::int64_t) {
    ++begun;
    while (begun < 2) std::this_thread::yield();
  });
  EXPECT_EQ(begun, 2);
}

TEST(thread_pool, waits_for_a_slow_index) {
  std::atomic<int> done{0};
  thread_pool::instance().parallel_for(4, [&](std::int64_t i) {
    if (i % 2 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ++done;
  });
  EXPECT_EQ(done, 4);
}

TEST(thread_pool, rethrows_in_the_caller_and_goes_on) {
  for (int repeat = 0; repeat < 200; ++repeat) {
    for (std::int64_t bad : {0, 5, 99}) {
      try {
        thread_pool::instance().parallel_for(100, [&](std::int64_t i) {
          if (i == bad) throw std::runtime_error("index " + std::to_string(i));
        });
        FAIL() << "nothing was thrown";
      } catch (std::runtime_error const& error) {
        EXPECT_EQ(error.what(), "index " + std::to_string(bad));
      }
    }
    EXPECT_THROW(thread_pool::instance().parallel_for(8, [](std::int64_t) { throw 1; }), int);
    std::atomic<int> calls{0};
    thread_pool::instance().parallel_for(10, [&](std::int64_t) { ++calls; });
    ASSERT_EQ(calls, 10);
  }
}

TEST(thread_pool, runs_nested_loops_in_the_thread_that_asks) {
  std::atomic<int> calls{0}, elsewhere{0};
  thread_pool::instance().parallel_for(8, [&](std::int64_t) {
    auto const here = std::this_thread::get_id();
    thread_pool::instance().parallel_for(8, [&](std::int64_t) {
      thread_pool::instance().parallel_for(3, [&](std::int64_t) { ++calls; });
      elsewhere += std::this_thread::get_id() != here;
    });
  });
  EXPECT_EQ(calls, 8 * 8 * 3);
  EXPECT_EQ(elsewhere, 0);
  EXPECT_THROW(thread_pool::instance().parallel_for(
                   4, [](std::int64_t) { thread_pool::instance().parallel_for(4, [](std::int64_t) { throw 1; }); }),
               int);
}

TEST(thread_pool, serves_several_callers) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 3; ++caller) {
    callers.emplace_back([&wrong, caller] {
      for (int repeat = 0; repeat < 5000; ++repeat) {
        std::atomic<std::int64_t> sum{0};
        std::int64_t const count = 2 + (repeat + caller) % 20;
        try {
          thread_pool::instance().parallel_for(count, [&](std::int64_t i) {
            sum += i;
            if (repeat % 7 == caller && i == count - 1) throw caller;
          });
          wrong += sum != count * (count - 1) / 2 || repeat % 7 == caller;
        } catch (int thrower) {
          wrong += thrower != caller || repeat % 7 != caller;
        }
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(thread_pool, passes_a_callable_by_reference) {
  struct counter {
    std::atomic<int> calls{0};  // not copyable
    void operator()(std::int64_t) { ++calls; }
  } counted;
  thread_pool::instance().parallel_for(50, counted);
  EXPECT_EQ(counted.calls, 50);
}

}  // namespace

#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace rnnopt {
namespace detail {

/// @brief The threads of the host executor: one per processor, the caller's included, started at the first use.
///
/// A loop is published as one 64-bit ticket: the loop's number, and how many pieces of its range are still free. A
/// thread takes a piece by counting the ticket down with compare-and-swap. That fails once the loop has changed, so a
/// worker that sleeps through a loop or comes late is never waited for, and a call allocates nothing. Which thread runs
/// an index is not determined: results must depend on the index alone.
class thread_pool {
 public:
  thread_pool(thread_pool const&) = delete;
  thread_pool& operator=(thread_pool const&) = delete;

  /// @brief The pool of the process. Never destroyed: destructors of static objects may use it, and exit() may be
  /// called while it works.
  static thread_pool& instance() {
    static thread_pool* const pool = new thread_pool;
    return *pool;
  }

  /// @brief How many threads a loop may use, the caller included.
  int threads() const noexcept { return workers_ + 1; }

  /// @brief Calls f(i) once for every i in [0, count), in no particular order, and returns when all are done.
  ///
  /// Runs in the calling thread alone if that is inside another call, or while another thread has the pool.
  /// @param f callable with std::int64_t; called concurrently from several threads
  /// @throws whatever f throws; of several exceptions, one. Indices not yet begun are then skipped.
  template <class F>
  void parallel_for(std::int64_t count, F&& f) {
    auto loop = [&f](std::int64_t first, std::int64_t last) {
      for (; first < last; ++first) f(first);
    };
    std::unique_lock<std::mutex> turn(turn_, std::defer_lock);
    // In this order: a thread that has the turn must not ask for it again.
    if (count <= 1 || workers_ == 0 || inside() || !turn.try_lock()) return loop(0, count);
    run(count, &loop, [](void* callable, std::int64_t first, std::int64_t last) {
      (*static_cast<decltype(loop)*>(callable))(first, last);
    });
  }

 private:
  using body = void (*)(void* callable, std::int64_t first, std::int64_t last);

  // Some 200 microseconds of polling, longer than the gap between the small loops of consecutive steps, before a thread
  // sleeps. Most of it yields: where there are more threads than processors, the awaited one needs this processor.
  static constexpr int pauses = 200;
  static constexpr int polls = pauses + 400;

  thread_pool() {
    int const wanted = static_cast<int>(std::thread::hardware_concurrency()) - 1;
    for (; workers_ < wanted; ++workers_) {
      try {
        std::thread([this] { work(); }).detach();
      } catch (std::system_error const&) {
        break;  // fewer threads are slower, not wrong
      }
    }
  }

  static bool& inside() {
    static thread_local bool value = false;
    return value;
  }

  static void wait_a_little(int poll) {
#if defined(__x86_64__) || defined(__i386__)
    if (poll < pauses) return __builtin_ia32_pause();
#endif
    std::this_thread::yield();
  }

  static std::uint32_t loop_of(std::uint64_t ticket) { return static_cast<std::uint32_t>(ticket >> 32); }
  static std::uint32_t free_pieces(std::uint64_t ticket) { return static_cast<std::uint32_t>(ticket); }

  void run(std::int64_t count, void* callable, body call) {
    // Plain variables: all pieces of the previous loop are done, and only who has taken a piece looks at these.
    callable_ = callable;
    call_ = call;
    count_ = count;
    grain_ = count / (32 * std::int64_t{threads()}) + 1;  // several pieces per thread even out their speeds
    pieces_ = static_cast<std::uint32_t>((count - 1) / grain_ + 1);
    failed_.store(false);
    done_.store(0);
    std::uint32_t const loop = loop_of(ticket_.load()) + 1;
    ticket_.store((std::uint64_t{loop} << 32) | pieces_);
    // Sequentially consistent, as is the worker's pair (count itself asleep, look at the ticket): one sees the other.
    if (int const asleep = asleep_.load(); asleep > 0) {
      { std::lock_guard<std::mutex> lock(mutex_); }
      for (std::int64_t n = std::min<std::int64_t>(asleep, pieces_ - 1); n > 0; --n) wake_.notify_one();
    }
    take_pieces(loop);
    for (int poll = 0; done_.load() != count; ++poll) {
      if (poll < polls) {
        wait_a_little(poll);
      } else {
        std::unique_lock<std::mutex> lock(mutex_);
        caller_asleep_.store(true);
        finished_.wait(lock, [&] { return done_.load() == count; });
        caller_asleep_.store(false);
      }
    }
    if (failed_.load()) std::rethrow_exception(std::exchange(exception_, nullptr));
  }

  /// Runs pieces of the loop until none is free.
  void take_pieces(std::uint32_t loop) {
    inside() = true;
    std::uint64_t ticket = ticket_.load();
    while (loop_of(ticket) == loop && free_pieces(ticket) > 0) {
      if (!ticket_.compare_exchange_weak(ticket, ticket - 1)) continue;
      // Until this piece is added to done_, the loop cannot end and its variables stay.
      std::int64_t const first = std::int64_t{pieces_ - free_pieces(ticket)} * grain_;
      std::int64_t const last = (std::min)(first + grain_, count_);
      std::int64_t const count = count_;
      if (!failed_.load(std::memory_order_relaxed)) {
        try {
          call_(callable_, first, last);
        } catch (...) {
          std::lock_guard<std::mutex> lock(mutex_);
          if (!failed_.exchange(true)) exception_ = std::current_exception();
        }
      }
      if (done_.fetch_add(last - first) + (last - first) == count && caller_asleep_.load()) {
        { std::lock_guard<std::mutex> lock(mutex_); }
        finished_.notify_all();
      }
      ticket = ticket_.load();
    }
    inside() = false;
  }

  [[noreturn]] void work() {
    for (std::uint32_t seen = 0;;) {
      std::uint32_t loop = loop_of(ticket_.load());
      for (int poll = 0; loop == seen && poll < polls; ++poll) {
        wait_a_little(poll);
        loop = loop_of(ticket_.load());
      }
      if (loop == seen) {
        std::unique_lock<std::mutex> lock(mutex_);
        asleep_.fetch_add(1);
        wake_.wait(lock, [&] { return (loop = loop_of(ticket_.load())) != seen; });
        asleep_.fetch_sub(1);
      }
      take_pieces(loop);
      seen = loop;
    }
  }

  int workers_ = 0;
  std::mutex turn_;  // held by the thread whose loop is published

  // The published loop.
  void* callable_ = nullptr;
  body call_ = nullptr;
  std::int64_t count_ = 0;
  std::int64_t grain_ = 1;
  std::uint32_t pieces_ = 0;
  std::atomic<bool> failed_{false};
  std::exception_ptr exception_;  // written under mutex_ by the first to fail, read when all pieces are done

  // On their own cache lines, since every thread writes them.
  alignas(64) std::atomic<std::uint64_t> ticket_{0};
  alignas(64) std::atomic<std::int64_t> done_{0};

  alignas(64) std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable finished_;
  std::atomic<int> asleep_{0};
  std::atomic<bool> caller_asleep_{false};
};

}  // namespace detail
}  // namespace rnnopt

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string>

#include "rnnopt/host_rnn.hpp"
#include "rnnopt/schedules/stepwise.hpp"

namespace char_lm {

/// A matrix product C [m, n] = A [m, k] B [k, n], everything row-major without gaps; a transposed operand is stored as
/// [k, m] or [n, k].
struct product_extents {
  std::int64_t m, n, k;
  bool a_transposed, b_transposed;
};

/// All that the example asks of a processor: memory, loops, sums, products and the network. backend_gpu.cuh is the
/// other one; everything else is written once, as templates over the two.
/// Its loops and products are internals of the library (rnnopt::detail), which may change: an embedding and an output
/// layer need products, and those are not the library's public subject.
class cpu_backend {
 public:
  static std::string name() {
    return "CPU, " + std::to_string(rnnopt::detail::thread_pool::instance().threads()) + " threads";
  }

  /// Memory of the backend, zero at first, aligned the same in every run so that sums are, too.
  template <class T>
  class buffer {
   public:
    explicit buffer(std::int64_t size) : size_(size) {
      std::size_t const bytes = sizeof(T) * static_cast<std::size_t>(size);
      data_.reset(static_cast<T*>(::operator new(bytes, alignment)));
      std::memset(static_cast<void*>(data_.get()), 0, bytes);
    }
    T* data() const { return data_.get(); }
    std::int64_t size() const { return size_; }

   private:
    static constexpr std::align_val_t alignment{64};
    struct release {
      void operator()(T* pointer) const { ::operator delete(pointer, alignment); }
    };
    std::int64_t size_;
    std::unique_ptr<T, release> data_;
  };

  template <class T>
  void upload(buffer<T>& to, T const* from) const {
    std::memcpy(static_cast<void*>(to.data()), from, sizeof(T) * static_cast<std::size_t>(to.size()));
  }
  template <class T>
  void download(T* to, buffer<T> const& from) const {
    std::memcpy(static_cast<void*>(to), from.data(), sizeof(T) * static_cast<std::size_t>(from.size()));
  }
  template <class T>
  void clear(buffer<T>& b) const {
    std::memset(static_cast<void*>(b.data()), 0, sizeof(T) * static_cast<std::size_t>(b.size()));
  }

  /// f(0) .. f(count - 1), in any order.
  template <class F>
  void for_each(std::int64_t count, F const& f) const {
    rnnopt::detail::thread_pool::instance().parallel_for(count, f);
  }

  /// *out = f(0) + .. + f(count - 1), added in an order that depends on count alone.
  template <class F>
  void sum(std::int64_t count, F const& f, float* out) const {
    constexpr std::int64_t parts = 64;
    double part[parts];
    rnnopt::detail::thread_pool::instance().parallel_for(parts, [&](std::int64_t p) {
      double total = 0;
      for (std::int64_t i = count * p / parts; i < count * (p + 1) / parts; ++i) total += f(i);
      part[p] = total;
    });
    double total = 0;
    for (double const value : part) total += value;
    *out = static_cast<float>(total);
  }

  class product {
   public:
    product(cpu_backend const&, product_extents const& e) : e_(e) {}

    void operator()(cpu_backend const&, float const* a, float const* b, float* c) const {
      using operand = rnnopt::detail::operand<float>;
      operand const left = e_.a_transposed ? operand{a, 1, e_.m} : operand{a, e_.k, 1};
      operand const right = e_.b_transposed ? operand{b, 1, e_.k} : operand{b, e_.n, 1};
      rnnopt::detail::product(e_.m, e_.n, e_.k, left, right, c, e_.n, 0.0F);
    }

   private:
    product_extents e_;
  };

  template <class Cell>
  class network : public rnnopt::host_rnn<Cell, rnnopt::fp32, rnnopt::schedules::stepwise<>> {
    using base = rnnopt::host_rnn<Cell, rnnopt::fp32, rnnopt::schedules::stepwise<>>;

   public:
    network(cpu_backend const&, rnnopt::extents const& e) : base(e) {}

    void forward(cpu_backend const&, typename base::forward_arguments const& a) const { base::forward(a); }
    void forward_training(cpu_backend const&, typename base::forward_arguments const& a) const {
      base::forward_training(a);
    }
    void backward(cpu_backend const&, typename base::backward_arguments const& a) const { base::backward(a); }
  };
};

}  // namespace char_lm

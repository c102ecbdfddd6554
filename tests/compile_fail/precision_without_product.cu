// expect: rnnopt: cuBLASLt has no product for this precision; write storage half, bfloat16 or float and accumulate float, or double for both, and matrix_math::tf32 for float only
#include "rnnopt/cells/lstm.hpp"
#include "rnnopt/rnn.cuh"
#include "rnnopt/schedules/stepwise.hpp"

struct short_floats {
  struct storage {
    short bits;
    storage() = default;
    RNNOPT_HD explicit storage(float value) : bits(static_cast<short>(value)) {}
    RNNOPT_HD explicit operator float() const { return bits; }
  };
  using accumulate = float;
  using state = float;
  static constexpr rnnopt::matrix_math math = rnnopt::matrix_math::exact;
};

template class rnnopt::rnn<rnnopt::lstm, short_floats, rnnopt::schedules::stepwise<>>;

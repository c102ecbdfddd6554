#include "ladder/product_rate.hpp"

#include <stdexcept>
#include <vector>

#include "network_data.hpp"
#include "rnnopt/device/product.cuh"
#include "stopwatch.hpp"

namespace bench::ladder {
namespace {

template <class Precision>
product_rate measure(int repetitions, cudaStream_t stream) {
  using storage = typename Precision::storage;
  namespace library = rnnopt::detail;
  constexpr std::int64_t n = product_rate::extent;
  constexpr std::size_t alignment = 256;

  // Random, because the clock under load depends on the bits that change.
  device_array<storage> a(n * n), b(n * n), c(n * n);
  device_memory const scratch(library::product_scratch_bytes);
  fill_uniform(a.data(), element_of<storage>(), a.size(), 1, 1, stream);
  fill_uniform(b.data(), element_of<storage>(), b.size(), 1, 2, stream);
  check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");

  library::owned_cublas const cublas = library::make_cublas("measuring the product rate");
  stopwatch watch;
  product_rate best;
  for (bool const transposed : {false, true}) {
    library::planned_product const product(cublas.get(), library::product_types_of<Precision, storage>(),
                                           {n, n, n, false, transposed, n, n, n, alignment, alignment, alignment},
                                           rnnopt::product_choice::measured, 1);
    auto const run = [&] { product.run(stream, a.data(), b.data(), c.data(), false, scratch.data()); };
    run();
    std::vector<double> samples;
    for (int i = 0; i < repetitions; ++i) samples.push_back(watch.time(stream, run));
    double const microseconds = median_of(samples);
    if (best.repetitions == 0 || microseconds < best.microseconds) best = {microseconds, repetitions};
  }
  return best;
}

}  // namespace

product_rate measure_product(std::string const& precision, int repetitions, cudaStream_t stream) {
  if (precision == "fp32") return measure<rnnopt::fp32>(repetitions, stream);
  if (precision == "tf32") return measure<rnnopt::tf32>(repetitions, stream);
  if (precision == "fp16") return measure<rnnopt::fp16>(repetitions, stream);
  if (precision == "bf16") return measure<rnnopt::bf16>(repetitions, stream);
  throw std::invalid_argument("the ladder has no precision '" + precision + "'");
}

}  // namespace bench::ladder

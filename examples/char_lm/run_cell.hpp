#pragma once

#include "backend_cpu.hpp"
#include "run.hpp"
#include "session.hpp"
#if defined(__CUDACC__)
#include "backend_gpu.cuh"
#endif

namespace char_lm {

// Defined where it is instantiated: under nvcc for both backends, under a plain compiler for the CPU.
template <class Cell>
void run(options const& o, checkpoint const* from) {
#if defined(__CUDACC__)
  std::string const missing = o.device == "cpu" ? "" : gpu_backend::missing();
  if (o.device == "gpu" && !missing.empty()) throw user_error("--device gpu: there is no usable GPU (" + missing + ")");
  if (o.device != "cpu" && missing.empty()) return session<gpu_backend, Cell>(o, from).run();
#else
  if (o.device == "gpu") throw user_error("--device gpu: this program was built without CUDA");
#endif
  session<cpu_backend, Cell>(o, from).run();
}

}  // namespace char_lm

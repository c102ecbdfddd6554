#pragma once

#include <memory>
#include <string>
#include <vector>

#include "contender.hpp"
#include "shape.hpp"

namespace bench {

/// Version of the cuDNN that this program runs with; empty where it was built without.
std::string cudnn_version();

/// Names of cuDNN's RNN algorithms, the standard one first; none where this program was built without cuDNN.
std::vector<std::string> cudnn_algorithms();

/// cuDNN for one shape with one algorithm, always on the same stream; throws where cuDNN does not support it.
std::unique_ptr<contender> make_cudnn_contender(shape const& s, std::string const& algorithm, cudaStream_t stream);

}  // namespace bench

#pragma once

#include "../examples/cells/coupled_lstm.hpp"
#include "../examples/cells/indrnn.hpp"
#include "../examples/cells/minimal_gated_unit.hpp"
#include "../examples/cells/peephole_lstm.hpp"
#include "../examples/cells/slstm.hpp"
#include "rnnopt/cells/gru.hpp"
#include "rnnopt/cells/lstm.hpp"
#include "rnnopt/cells/vanilla.hpp"

namespace rnnopt_tests {

using vanilla_tanh = rnnopt::vanilla<rnnopt::activations::tanh>;
using vanilla_relu = rnnopt::vanilla<rnnopt::activations::relu>;

}  // namespace rnnopt_tests

#pragma once

#include "cells/coupled_lstm.hpp"
#include "cells/indrnn.hpp"
#include "cells/minimal_gated_unit.hpp"
#include "cells/peephole_lstm.hpp"
#include "cells/slstm.hpp"
#include "rnnopt/cells/gru.hpp"
#include "rnnopt/cells/lstm.hpp"
#include "rnnopt/cells/vanilla.hpp"

namespace rnnopt_tests {

using vanilla_tanh = rnnopt::vanilla<rnnopt::activations::tanh>;
using vanilla_relu = rnnopt::vanilla<rnnopt::activations::relu>;

}  // namespace rnnopt_tests

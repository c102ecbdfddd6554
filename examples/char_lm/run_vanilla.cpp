#include "rnnopt/cells/vanilla.hpp"
#include "run_cell.hpp"

namespace char_lm {

template void run<rnnopt::vanilla<rnnopt::activations::tanh>>(options const&, checkpoint const*);

}  // namespace char_lm

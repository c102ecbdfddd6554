#include "../cells/minimal_gated_unit.hpp"
#include "run_cell.hpp"

namespace char_lm {

template void run<cells::minimal_gated_unit>(options const&, checkpoint const*);

}  // namespace char_lm

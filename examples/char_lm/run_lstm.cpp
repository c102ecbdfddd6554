#include "rnnopt/cells/lstm.hpp"
#include "run_cell.hpp"

namespace char_lm {

template <>
inline constexpr int keep_gate<rnnopt::lstm> = 1;

template void run<rnnopt::lstm>(options const&, checkpoint const*);

}  // namespace char_lm

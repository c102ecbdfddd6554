#include "rnnopt/cells/gru.hpp"
#include "run_cell.hpp"

namespace char_lm {

template <>
inline constexpr int keep_gate<rnnopt::gru> = 1;

template void run<rnnopt::gru>(options const&, checkpoint const*);

}  // namespace char_lm

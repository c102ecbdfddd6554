#include "../cells/slstm.hpp"
#include "run_cell.hpp"

namespace char_lm {

template <>
inline constexpr int keep_gate<cells::slstm> = 1;

template void run<cells::slstm>(options const&, checkpoint const*);

}  // namespace char_lm

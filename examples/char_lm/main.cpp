#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <optional>
#include <string>

#include "../cells/minimal_gated_unit.hpp"
#include "../cells/slstm.hpp"
#include "rnnopt/cells/gru.hpp"
#include "rnnopt/cells/lstm.hpp"
#include "rnnopt/cells/vanilla.hpp"
#include "run.hpp"
#include "session.hpp"

// Where the sources of this program lie: what it reads by default.
#if !defined(CHAR_LM_DATA)
#define CHAR_LM_DATA "."
#endif

namespace char_lm {

inline void run(options const& o) {
  std::optional<checkpoint> from;
  if (o.load) from = load(*o.load);
  if (o.save) check_writable(*o.save);
  checkpoint const* const start = from ? &*from : nullptr;
  std::string const& cell = from ? from->model.cell : o.model.cell;
  if (cell == "lstm") return run<rnnopt::lstm>(o, start);
  if (cell == "gru") return run<rnnopt::gru>(o, start);
  if (cell == "vanilla") return run<rnnopt::vanilla<rnnopt::activations::tanh>>(o, start);
  if (cell == "mgu") return run<cells::minimal_gated_unit>(o, start);
  if (cell == "slstm") return run<cells::slstm>(o, start);
  throw user_error(*o.load + ": the checkpoint is of an unknown cell, " + cell);
}

}  // namespace char_lm

int main(int argc, char** argv) {
  try {
    char_lm::options o = char_lm::parse_options(argc, argv);
    if (o.help) return std::fputs(char_lm::usage(), stdout) < 0 ? 1 : 0;
    if (!o.data) o.data = CHAR_LM_DATA;
    std::signal(SIGINT, [](int) {
      char_lm::interrupted = 1;
      std::signal(SIGINT, SIG_DFL);  // whoever presses it twice means it
    });
    char_lm::run(o);
    return 0;
  } catch (std::bad_alloc const&) {
    std::fputs("char_lm: there is not enough memory\n", stderr);
  } catch (std::exception const& error) {
    std::fprintf(stderr, "char_lm: %s\n", error.what());
  }
  return 1;
}

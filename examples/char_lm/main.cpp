#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <string>

#include "../cells/minimal_gated_unit.hpp"
#include "../cells/slstm.hpp"
#include "interrupt.hpp"
#include "rnnopt/cells/gru.hpp"
#include "rnnopt/cells/lstm.hpp"
#include "rnnopt/cells/vanilla.hpp"
#include "run.hpp"

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
  throw user_error("the cell " + cell + " is not built in");
}

/// What is printed is the result: a full disk must not pass for success.
inline void finish_output() {
  bool const failed = std::ferror(stdout) != 0;
  errno = 0;
  if (std::fflush(stdout) == 0 && !failed) return;
  std::string const reason = errno != 0 ? std::string(" (") + std::strerror(errno) + ")" : "";
  throw user_error("the standard output cannot be written" + reason);
}

}  // namespace char_lm

int main(int argc, char** argv) {
  try {
    // Otherwise the next file to be opened would take its number, and what is printed.
    if (::fcntl(STDOUT_FILENO, F_GETFD) == -1) throw char_lm::user_error("the standard output is closed");
    char_lm::options o = char_lm::parse_options(argc, argv);
    if (o.help) {
      std::fputs(char_lm::usage(), stdout);
    } else {
      if (!o.data) o.data = CHAR_LM_DATA;
      std::signal(SIGXFSZ, SIG_IGN);  // a file that grows too large is then an error of writing it
      char_lm::catch_interrupts();
      char_lm::run(o);
    }
    char_lm::finish_output();
    return 0;
  } catch (std::bad_alloc const&) {
    std::fflush(stdout);  // first what was printed first
    std::fputs("char_lm: there is not enough memory\n", stderr);
  } catch (std::exception const& error) {
    std::fflush(stdout);
    std::fprintf(stderr, "char_lm: %s\n", error.what());
  }
  return 1;
}

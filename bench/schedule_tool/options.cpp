#include "options.hpp"

#include <getopt.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <system_error>

#include "command_line.hpp"
#include "rnnopt/cells/gru.hpp"
#include "rnnopt/cells/lstm.hpp"
#include "rnnopt/cells/vanilla.hpp"
#include "rnnopt/tape.hpp"

namespace schedule_tool {
namespace {

template <class Cell>
cell_cost cost_of(char const* name) {
  bool const bias = true;
  rnnopt::detail::arriving_gradients const of_most_steps{true, true, false};
  return {name, rnnopt::detail::shape_of<Cell>(),
          std::int64_t(rnnopt::detail::forward_tape<Cell>(bias).operations.size()),
          std::int64_t(rnnopt::detail::backward_tape<Cell>(of_most_steps).operations.size())};
}

std::vector<cell_cost> const& cell_costs() {
  static std::vector<cell_cost> const costs{cost_of<rnnopt::lstm>("lstm"), cost_of<rnnopt::gru>("gru"),
                                            cost_of<rnnopt::vanilla<rnnopt::activations::tanh>>("vanilla")};
  return costs;
}

template <class Named>
std::string names_of(std::vector<Named> const& list) {
  std::string names;
  for (Named const& named : list) names += (names.empty() ? "" : ", ") + named.name;
  return names;
}

template <class Named>
Named one_of(std::string const& option, std::string const& text, std::vector<Named> const& list) {
  auto const found = std::find_if(list.begin(), list.end(), [&](Named const& named) { return named.name == text; });
  if (found == list.end()) throw std::invalid_argument(option + " is '" + text + "', needs one of " + names_of(list));
  return *found;
}

std::int64_t integer(std::string const& option, std::string const& text, std::int64_t most) {
  std::int64_t value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > most)
    throw std::invalid_argument(option + " is '" + text + "', needs a whole number from 1 to " + std::to_string(most));
  return value;
}

}  // namespace

std::string usage() {
  return "usage: rnnopt_schedule --schedule NAME [options]\n"
         "Shows what a schedule does and how long it would take: proves it, runs its operations over lanes, signals\n"
         "and waits with the times of a cost model, and draws that.\n\n"
         "  --schedule NAME    one of those that --list shows\n"
         "  --list             print all schedules with their types\n"
         "  --pass NAME        forward or backward, with all gradients (forward)\n"
         "  --layers N         (4)\n"
         "  --directions N     1 or 2 (1)\n"
         "  --steps N          (100)\n"
         "  --hidden N         units per layer and direction; the input is as wide (512)\n"
         "  --batch N          (64)\n"
         "  --cell NAME        " +
         names_of(cell_costs()) +
         " (lstm)\n"
         "  --precision NAME   " +
         names_of(precision_costs()) +
         " (fp16)\n"
         "  --svg FILE         draw it there, too, with each operation as a box\n"
         "  --help             print this\n\n"
         "Exit code: 0, or 1 where the schedule is wrong or the file cannot be written, 2 for a bad option.\n";
}

options parse_options(int argc, char** argv) {
  enum { schedule = 1, list, pass_name, layers, directions, steps, hidden, batch, cell, precision, svg, help };
  option const table[] = {{"schedule", required_argument, nullptr, schedule},
                          {"list", no_argument, nullptr, list},
                          {"pass", required_argument, nullptr, pass_name},
                          {"layers", required_argument, nullptr, layers},
                          {"directions", required_argument, nullptr, directions},
                          {"steps", required_argument, nullptr, steps},
                          {"hidden", required_argument, nullptr, hidden},
                          {"batch", required_argument, nullptr, batch},
                          {"cell", required_argument, nullptr, cell},
                          {"precision", required_argument, nullptr, precision},
                          {"svg", required_argument, nullptr, svg},
                          {"help", no_argument, nullptr, help},
                          {nullptr, 0, nullptr, 0}};
  // The proof keeps a clock of every lane for every operation: what fits in memory.
  std::int64_t const most_layers = 32, most_steps = 2000, most_units = 65536;
  options result;
  result.cell = one_of("--cell", "lstm", cell_costs());
  result.precision = one_of("--precision", "fp16", precision_costs());
  opterr = 0;
  for (int found = 0; (found = getopt_long(argc, argv, ":", table, nullptr)) != -1;) {
    std::string const value = optarg != nullptr ? optarg : "";
    switch (found) {
      case schedule:
        result.schedule = one_of("--schedule", value, listed_schedules());
        break;
      case list:
        result.list = true;
        break;
      case pass_name:
        if (value != "forward" && value != "backward")
          throw std::invalid_argument("--pass is '" + value + "', needs forward or backward");
        result.pass = value == "forward" ? pass::forward : pass::backward;
        break;
      case layers:
        result.extents.layers = integer("--layers", value, most_layers);
        break;
      case directions:
        result.extents.directions = integer("--directions", value, 2);
        break;
      case steps:
        result.extents.steps = integer("--steps", value, most_steps);
        break;
      case hidden:
        result.extents.hidden = result.extents.input = integer("--hidden", value, most_units);
        break;
      case batch:
        result.extents.batch = integer("--batch", value, most_units);
        break;
      case cell:
        result.cell = one_of("--cell", value, cell_costs());
        break;
      case precision:
        result.precision = one_of("--precision", value, precision_costs());
        break;
      case svg:
        result.svg = value;
        break;
      case help:
        result.help = true;
        break;
      default:
        bench::refuse_option(found, argv[optind - 1]);
    }
  }
  if (optind < argc) bench::refuse_argument(argv[optind]);
  if (result.schedule.name.empty() && !result.list && !result.help)
    throw std::invalid_argument("which schedule? give --schedule NAME (see --list)");
  return result;
}

}  // namespace schedule_tool

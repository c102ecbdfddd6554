#include "ladder/options.hpp"

#include <getopt.h>

#include <stdexcept>

#include "command_line.hpp"

namespace bench::ladder {

std::string usage(known_names const& known) {
  return "usage: rnnopt_ladder [options]\n"
         "Times the optimisations of Appleyard et al. 2016 one after the other, those past it, and cuDNN beside "
         "them.\n\n"
         "  --cell NAME[,...]      cells (all: " +
         joined(known.cells) +
         ")\n"
         "  --precision NAME[,...] of " +
         joined(known.precisions) +
         " (fp32)\n"
         "  --rungs N[,...]        rungs of the ladder (all: " +
         joined(known.rungs) +
         "); without rung 0 there are no speed-ups\n"
         "  --hidden N             hidden units and inputs (512)\n"
         "  --batch N              rows of the batch (64)\n"
         "  --steps N              time steps (100)\n"
         "  --layers N             layers (4)\n"
         "  --products CHOICE      how products and fused steps are chosen: heuristic, measured or\n"
         "                         measured_together (heuristic)\n"
         "  --no-cudnn             do not time cuDNN\n"
         "  --repetitions N        timed runs of a pass; the median is reported; long passes get fewer (15)\n"
         "  --no-check             do not compare results with the host executor, nor rungs bit by bit\n"
         "  --csv FILE             write one row per cell, precision, rung, pass and launch mode\n"
         "  --help                 print this\n\n"
         "Exit code: 0, or 1 where a result is wrong or a rung could not be run, 2 for a bad option.\n";
}

options parse_options(int argc, char** argv, known_names const& known) {
  enum {
    cell = 1,
    precision,
    rungs,
    hidden,
    batch,
    steps,
    layers,
    products,
    no_cudnn,
    repetitions,
    no_check,
    csv,
    help
  };
  option const table[] = {
      {"cell", required_argument, nullptr, cell},     {"precision", required_argument, nullptr, precision},
      {"rungs", required_argument, nullptr, rungs},   {"hidden", required_argument, nullptr, hidden},
      {"batch", required_argument, nullptr, batch},   {"steps", required_argument, nullptr, steps},
      {"layers", required_argument, nullptr, layers}, {"products", required_argument, nullptr, products},
      {"no-cudnn", no_argument, nullptr, no_cudnn},   {"repetitions", required_argument, nullptr, repetitions},
      {"no-check", no_argument, nullptr, no_check},   {"csv", required_argument, nullptr, csv},
      {"help", no_argument, nullptr, help},           {nullptr, 0, nullptr, 0}};
  options result;
  result.cells = known.cells;
  result.rungs = known.rungs;
  opterr = 0;
  for (int found = 0; (found = getopt_long(argc, argv, ":", table, nullptr)) != -1;) {
    std::string const value = optarg != nullptr ? optarg : "";
    switch (found) {
      case cell:
        result.cells = names_in(value, known.cells, "--cell");
        break;
      case precision:
        result.precisions = names_in(value, known.precisions, "--precision");
        break;
      case rungs:
        result.rungs = names_in(value, known.rungs, "--rungs");
        break;
      case hidden:
        result.hidden = positive_integer(value, "--hidden");
        break;
      case batch:
        result.batch = positive_integer(value, "--batch");
        break;
      case steps:
        result.steps = positive_integer(value, "--steps");
        break;
      case layers:
        result.layers = positive_integer(value, "--layers");
        break;
      case products:
        result.products = product_choice_in(value, "--products");
        break;
      case no_cudnn:
        result.cudnn = false;
        break;
      case repetitions:
        result.repetitions = positive_integer(value, "--repetitions");
        break;
      case no_check:
        result.check = false;
        break;
      case csv:
        result.csv = value;
        break;
      case help:
        result.help = true;
        break;
      default:
        refuse_option(found, argv[optind - 1]);
    }
  }
  if (optind < argc) refuse_argument(argv[optind]);
  return result;
}

}  // namespace bench::ladder

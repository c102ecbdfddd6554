#include "options.hpp"

#include <getopt.h>

#include <stdexcept>

#include "command_line.hpp"

namespace bench {
std::string usage(known_names const& known) {
  return "usage: rnnopt_bench [options]\n"
         "Times every pass of every network of a grid, and cuDNN beside it.\n\n"
         "  --grid FILE            CSV with columns cell,hidden,batch,steps,layers,precision (bench/grid.csv)\n"
         "  --filter TEXT          only rows that contain TEXT, e.g. gru or lstm,512,64 or fp16\n"
         "  --schedule NAME[,...]  schedules to time (all: " +
         joined(known.schedules) +
         ")\n"
         "  --products CHOICE      how products and fused steps are chosen: heuristic, measured or\n"
         "                         measured_together (heuristic)\n"
         "  --cudnn NAME[,...]     cuDNN algorithms to time (all: " +
         (known.cudnn_algorithms.empty() ? "built without cuDNN" : joined(known.cudnn_algorithms)) +
         ")\n"
         "  --no-cudnn             do not time cuDNN\n"
         "  --repetitions N        timed runs of a pass; the median is reported; long passes get fewer (15)\n"
         "  --no-check             do not compare results with the host executor\n"
         "  --csv FILE             write one row per shape, schedule, pass and launch mode\n"
         "  --help                 print this\n\n"
         "Exit code: 0, or 1 where a result is wrong or nothing could be run, 2 for a bad option or grid.\n";
}

options parse_options(int argc, char** argv, known_names const& known) {
  enum { grid = 1, filter, schedule, products, cudnn, no_cudnn, repetitions, no_check, csv, help };
  option const table[] = {{"grid", required_argument, nullptr, grid},
                          {"filter", required_argument, nullptr, filter},
                          {"schedule", required_argument, nullptr, schedule},
                          {"products", required_argument, nullptr, products},
                          {"cudnn", required_argument, nullptr, cudnn},
                          {"no-cudnn", no_argument, nullptr, no_cudnn},
                          {"repetitions", required_argument, nullptr, repetitions},
                          {"no-check", no_argument, nullptr, no_check},
                          {"csv", required_argument, nullptr, csv},
                          {"help", no_argument, nullptr, help},
                          {nullptr, 0, nullptr, 0}};
  options result;
  result.schedules = known.schedules;
  result.cudnn_algorithms = known.cudnn_algorithms;
  opterr = 0;
  for (int found = 0; (found = getopt_long(argc, argv, ":", table, nullptr)) != -1;) {
    std::string const value = optarg != nullptr ? optarg : "";
    switch (found) {
      case grid:
        result.grid = value;
        break;
      case filter:
        result.filter = value;
        break;
      case schedule:
        result.schedules = names_in(value, known.schedules, "--schedule");
        break;
      case products:
        result.products = product_choice_in(value, "--products");
        break;
      case cudnn:
        result.cudnn_algorithms = names_in(value, known.cudnn_algorithms, "--cudnn");
        break;
      case no_cudnn:
        result.cudnn_algorithms.clear();
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

}  // namespace bench

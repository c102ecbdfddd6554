#include "options.hpp"

#include <getopt.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace bench {
namespace {

std::vector<std::string> names_in(std::string const& list, std::vector<std::string> const& known,
                                  std::string const& option) {
  std::vector<std::string> names;
  for (std::size_t begin = 0;;) {
    auto const comma = list.find(',', begin);
    std::string const name = list.substr(begin, comma - begin);
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw std::invalid_argument(option + " does not know '" + name + "'" +
                                  (known.empty() ? std::string(", built without any") : "; known: " + joined(known)));
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    if (comma == std::string::npos) return names;
    begin = comma + 1;
  }
}

int positive(std::string const& text, std::string const& option) {
  int value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1)
    throw std::invalid_argument(option + " is '" + text + "', needs an integer of at least 1");
  return value;
}

}  // namespace

std::string joined(std::vector<std::string> const& names) {
  std::string text;
  for (std::string const& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

std::string usage(known_names const& known) {
  return "usage: rnnopt_bench [options]\n"
         "Times every pass of every network of a grid, and cuDNN beside it.\n\n"
         "  --grid FILE            CSV with columns cell,hidden,batch,steps,layers,precision (bench/grid.csv)\n"
         "  --filter TEXT          only rows that contain TEXT, e.g. gru or lstm,512,64 or fp16\n"
         "  --schedule NAME[,...]  schedules to time (all: " +
         joined(known.schedules) +
         ")\n"
         "  --products CHOICE      how the algorithms of products are chosen: heuristic or measured (heuristic)\n"
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
        if (value != "heuristic" && value != "measured")
          throw std::invalid_argument("--products is '" + value + "', needs heuristic or measured");
        result.measured_products = value == "measured";
        break;
      case cudnn:
        result.cudnn_algorithms = names_in(value, known.cudnn_algorithms, "--cudnn");
        break;
      case no_cudnn:
        result.cudnn_algorithms.clear();
        break;
      case repetitions:
        result.repetitions = positive(value, "--repetitions");
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
      case ':':
        throw std::invalid_argument(std::string(argv[optind - 1]) + " needs a value (see --help)");
      default:
        throw std::invalid_argument("bad option '" + std::string(argv[optind - 1]) + "' (see --help)");
    }
  }
  if (optind < argc) throw std::invalid_argument("unexpected '" + std::string(argv[optind]) + "' (see --help)");
  return result;
}

}  // namespace bench

#pragma once

#include <getopt.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "error.hpp"
#include "limits.hpp"
#include "parameters.hpp"

/// The command line. getopt_long is part of the C library of every system this runs on; a nicer library would be one
/// more package to install before a fresh clone can show anything.

namespace char_lm {

struct options {
  configuration model;
  bool batch_given = false;
  std::optional<std::string> data, save, load;
  std::optional<std::int64_t> iterations, epochs;
  std::optional<double> seconds;
  std::optional<double> learning_rate, clip;
  std::optional<std::uint64_t> seed;
  std::string device = "auto";
  std::int64_t sample = 400;
  double temperature = 0.7;
  bool help = false;
};

inline char const* usage() {
  return R"(char_lm: trains a character language model and samples text from it

  --data PATH         a UTF-8 text file, or a folder of them (default: the sources this program was built from)
  --cell NAME         lstm, gru, vanilla, mgu or slstm (lstm)
  --layers N          recurrent layers (2)
  --hidden N          units per layer (128)
  --embedding N       numbers per character (64)
  --batch N           places in the text read at once (32, fewer in a short text)
  --steps N           characters between two updates of the parameters (64)
  --iterations N      updates to do, with --load in addition to those done (10 passes over the text, 300 to 1200)
  --epochs N          the same, counted in passes over the text
  --time SECONDS      stop after this long; if nothing else is given, as many iterations as that allows (60)
  --learning-rate X   of Adam, at first; it falls as 1/sqrt(1 + updates/400) (0.01)
  --clip X            largest norm of a gradient (1)
  --seed N            of the initial parameters and of the sample (1)
  --save FILE         write a checkpoint at the end
  --load FILE         go on from a checkpoint; with --iterations 0, only sample
  --device NAME       cpu, gpu or auto: the GPU if there is one (auto)
  --sample N          characters to sample at the end (400)
  --temperature X     of the sample: below 1 is safer, above 1 is wilder (0.7)
  --help              this text

Control-C ends training early, then the sample; the checkpoint is still written. An option may be abbreviated.
)";
}

namespace detail {

inline std::int64_t integer(std::string const& name, std::string const& text, limits::range const& range) {
  std::int64_t value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !range.holds(value))
    throw user_error("--" + name + " is '" + text + "', needs a whole number from " + std::to_string(range.least) +
                     " to " + std::to_string(range.most));
  return value;
}

inline double factor(std::string const& name, std::string const& text) {
  bool const plain = !text.empty() && text.find_first_not_of("0123456789.e+-") == std::string::npos;
  char* end = nullptr;
  double const value = plain ? std::strtod(text.c_str(), &end) : 0;
  if (!plain || *end != '\0' || !limits::is_factor(value))
    throw user_error("--" + name + " is '" + text + "', needs a number from 1e-37 to 1e9");
  return value;
}

inline std::string one_of(std::string const& name, std::string const& text, std::vector<std::string> const& choices) {
  std::string list;
  for (std::string const& choice : choices) {
    if (text == choice) return text;
    list += (list.empty() ? "" : ", ") + choice;
  }
  throw user_error("--" + name + " is '" + text + "', needs one of " + list);
}

/// What to say of a word that getopt_long does not take.
inline user_error not_an_option(std::string const& word, std::vector<std::string> const& names) {
  std::string const start = word.substr(0, word.find('='));
  std::string meant;
  std::size_t count = 0;
  for (std::string const& name : names) {
    if (start.compare(0, 2, "--") != 0 || ("--" + name).compare(0, start.size(), start) != 0) continue;
    meant += (count++ == 0 ? "--" : ", --") + name;
  }
  if (count > 1) return user_error("'" + word + "' is ambiguous: " + meant);
  if (count == 1) return user_error(meant + " takes no value");
  return user_error("'" + word + "' is no option; see --help");
}

/// An option that can have no effect is a mistake.
inline void check_effects(options const& o, std::set<std::string> const& given) {
  auto const refuse = [&](std::vector<std::string> const& names, std::string const& reason) {
    for (std::string const& name : names)
      if (given.count(name) != 0) throw user_error("--" + name + " has no effect " + reason);
  };
  if (o.iterations && o.epochs) throw user_error("--iterations and --epochs say the same; give one of them");
  if (o.load)
    refuse({"cell", "layers", "hidden", "embedding", "batch", "steps"}, "with --load: the checkpoint says it");
  if (o.sample == 0) refuse({"temperature"}, "with --sample 0");
  if (o.sample == 0 && o.load) refuse({"seed"}, "with --load and --sample 0");
  if (o.iterations == 0) {
    if (!o.load) throw user_error("--iterations 0 needs --load: there is no model to sample from");
    if (o.sample == 0) throw user_error("--iterations 0 and --sample 0 leave nothing to do");
    refuse({"data", "save", "time", "learning-rate", "clip"}, "with --iterations 0");
  }
}

}  // namespace detail

inline options parse_options(int argc, char** argv) {
  std::vector<std::string> const names{"data",          "cell", "layers", "hidden", "embedding",  "batch", "steps",
                                       "iterations",    "time", "epochs", "clip",   "seed",       "save",  "load",
                                       "learning-rate", "help", "device", "sample", "temperature"};
  // Values of their own, so that getopt_long takes an abbreviation only if it can mean a single option.
  int const first_value = 256;  // no character
  std::vector<option> table;
  for (std::string const& name : names)
    table.push_back({name.c_str(), name == "help" ? no_argument : required_argument, nullptr,
                     first_value + static_cast<int>(table.size())});
  table.push_back({nullptr, 0, nullptr, 0});

  options o;
  std::set<std::string> given;
  opterr = 0;  // the message is ours, one line
  for (;;) {
    std::string const word = optind < argc ? argv[optind] : "";
    int const found = getopt_long(argc, argv, "+:", table.data(), nullptr);  // +: words keep their order
    if (found == -1) break;
    if (found == ':') throw user_error(word + " needs a value");
    if (found < first_value) throw detail::not_an_option(word, names);
    std::string const& name = names[static_cast<std::size_t>(found - first_value)];
    if (!given.insert(name).second) throw user_error("--" + name + " is given twice");
    if (name == "help") {
      o.help = true;
      return o;
    }
    std::string const text = optarg;
    auto const integer = [&](limits::range const& range) { return detail::integer(name, text, range); };
    if (name == "data") o.data = text;
    if (name == "save") o.save = text;
    if (name == "load") o.load = text;
    if (name == "cell") o.model.cell = detail::one_of(name, text, cell_names());
    if (name == "device") o.device = detail::one_of(name, text, {"cpu", "gpu", "auto"});
    if (name == "layers") o.model.layers = integer(limits::layers);
    if (name == "hidden") o.model.hidden = integer(limits::units);
    if (name == "embedding") o.model.embedding = integer(limits::units);
    if (name == "batch") o.model.batch = integer(limits::batch), o.batch_given = true;
    if (name == "steps") o.model.steps = integer(limits::steps);
    if (name == "iterations") o.iterations = integer(limits::iterations);
    if (name == "epochs") o.epochs = integer(limits::epochs);
    if (name == "sample") o.sample = integer(limits::sample);
    if (name == "seed") o.seed = static_cast<std::uint64_t>(integer(limits::seed));
    if (name == "time") o.seconds = detail::factor(name, text);
    if (name == "learning-rate") o.learning_rate = detail::factor(name, text);
    if (name == "clip") o.clip = detail::factor(name, text);
    if (name == "temperature") o.temperature = detail::factor(name, text);
  }
  if (optind < argc) throw detail::not_an_option(argv[optind], {});
  detail::check_effects(o, given);
  return o;
}

}  // namespace char_lm

#include "command_line.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <exception>
#include <stdexcept>

namespace bench {

std::string joined(std::vector<std::string> const& names) {
  std::string text;
  for (std::string const& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

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

int positive_integer(std::string const& text, std::string const& option) {
  int value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1)
    throw std::invalid_argument(option + " is '" + text + "', needs an integer of at least 1");
  return value;
}

char const* name_of(rnnopt::product_choice choice) {
  switch (choice) {
    case rnnopt::product_choice::heuristic:
      return "heuristic";
    case rnnopt::product_choice::measured:
      return "measured";
    case rnnopt::product_choice::measured_together:
      break;
  }
  return "measured_together";
}

rnnopt::product_choice product_choice_in(std::string const& text, std::string const& option) {
  using choice = rnnopt::product_choice;
  for (choice const c : {choice::heuristic, choice::measured, choice::measured_together})
    if (text == name_of(c)) return c;
  throw std::invalid_argument(option + " is '" + text + "', needs heuristic, measured or measured_together");
}

void refuse_option(int found, std::string const& option) {
  if (found == ':') throw std::invalid_argument(option + " needs a value (see --help)");
  throw std::invalid_argument("bad option '" + option + "' (see --help)");
}

void refuse_argument(std::string const& argument) {
  throw std::invalid_argument("unexpected '" + argument + "' (see --help)");
}

int exit_code_of(char const* program, std::function<int()> const& work) {
  try {
    return work();
  } catch (std::invalid_argument const& bad) {
    std::fprintf(stderr, "%s: %s\n", program, bad.what());
    return 2;
  } catch (std::exception const& failure) {
    std::fprintf(stderr, "%s: %s\n", program, failure.what());
    return 1;
  }
}

}  // namespace bench

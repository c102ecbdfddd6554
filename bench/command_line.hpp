#pragma once

#include <functional>
#include <string>
#include <vector>

/// Values of command line options. What is wrong with one is thrown as std::invalid_argument, one line.

#include "rnnopt/product_choice.hpp"

namespace bench {

/// Names with commas between.
std::string joined(std::vector<std::string> const& names);

/// The names of a list with commas between, each once; every one has to be known.
std::vector<std::string> names_in(std::string const& list, std::vector<std::string> const& known,
                                  std::string const& option);

/// An integer of at least 1.
int positive_integer(std::string const& text, std::string const& option);

/// The name by which --products asks for it.
char const* name_of(rnnopt::product_choice choice);
rnnopt::product_choice product_choice_in(std::string const& text, std::string const& option);

/// Throws for what getopt_long found: ':' is an option without its value, anything else a bad option.
[[noreturn]] void refuse_option(int found, std::string const& option);
/// Throws for what is no option.
[[noreturn]] void refuse_argument(std::string const& argument);

/// What `work` returns; or what it throws on stderr, and 2 for a std::invalid_argument, 1 for anything else.
int exit_code_of(char const* program, std::function<int()> const& work);

}  // namespace bench

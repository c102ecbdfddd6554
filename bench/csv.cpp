#include "csv.hpp"

#include <stdexcept>

namespace bench {
namespace {

std::string quoted(std::string const& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string result = "\"";
  for (char const c : text) {
    if (c == '"') result += '"';
    result += c == '\n' ? ' ' : c;
  }
  return result + "\"";
}

}  // namespace

std::string number(char const* format, double value, bool there) {
  if (!there) return {};
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string positive(char const* format, double value) { return number(format, value, value > 0); }

csv_file::csv_file(std::string const& path, std::vector<std::string> const& header, std::string const& columns) {
  if (path.empty()) return;
  file_.reset(std::fopen(path.c_str(), "w"));
  if (file_ == nullptr) throw std::runtime_error("cannot write '" + path + "'");
  for (std::string const& line : header) std::fprintf(file_.get(), "# %s\n", line.c_str());
  std::fprintf(file_.get(), "%s\n", columns.c_str());
}

void csv_file::add(std::vector<std::string> const& fields) {
  if (file_ == nullptr) return;
  for (std::size_t i = 0; i < fields.size(); ++i)
    std::fprintf(file_.get(), "%s%s", i == 0 ? "" : ",", quoted(fields[i]).c_str());
  std::fputc('\n', file_.get());
  std::fflush(file_.get());
}

}  // namespace bench

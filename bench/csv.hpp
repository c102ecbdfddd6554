#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace bench {

/// The number, or nothing where there is none.
std::string number(char const* format, double value, bool there);
/// The number, or nothing where it is 0.
std::string positive(char const* format, double value);

/// A file of results: header lines that start with "# ", the names of the columns, rows.
class csv_file {
 public:
  /// An empty path is no file, and nothing is written. Throws where the file cannot be written.
  csv_file(std::string const& path, std::vector<std::string> const& header, std::string const& columns);

  /// One row, at once in the file; fields are quoted where they need it, and stay on one line.
  void add(std::vector<std::string> const& fields);

 private:
  struct close_file {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, close_file> file_;
};

}  // namespace bench

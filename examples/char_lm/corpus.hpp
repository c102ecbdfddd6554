#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "error.hpp"
#include "file.hpp"
#include "text.hpp"

/// The text of a file or of a folder.

namespace char_lm {

struct corpus {
  std::u32string text;
  std::size_t files = 0;
  std::size_t no_text = 0;     ///< files of a folder that are not UTF-8 text
  std::size_t unreadable = 0;  ///< entries of a folder that could not be looked at or read

  /// What was left out, in brackets; empty if nothing was.
  std::string left_out() const {
    std::string list;
    if (no_text > 0) list = std::to_string(no_text) + " are no text";
    if (unreadable > 0) list += (list.empty() ? "" : ", ") + std::to_string(unreadable) + " cannot be read";
    return list.empty() ? "" : " (" + list + ")";
  }
};

namespace detail {

/// Appends the files below a folder; hidden ones and folders named build are left out, links to folders not followed.
/// Returns how many entries cannot be looked at: one broken link is no reason to refuse a folder.
inline std::size_t list_files(std::filesystem::path const& folder, std::vector<std::filesystem::path>& files) {
  namespace fs = std::filesystem;
  std::size_t unreadable = 0;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    fs::path const& path = entry->path();
    std::string const name = path.filename().string();
    if (name[0] == '.') continue;
    std::error_code ignored;  // the type says it
    fs::file_status const file = fs::status(path, ignored);
    if (!fs::exists(file)) ++unreadable;
    else if (fs::is_regular_file(file)) files.push_back(path);
    else if (name != "build" && fs::is_directory(fs::symlink_status(path, ignored)))
      unreadable += list_files(path, files);
  }
  return error ? unreadable + 1 : unreadable;
}

inline corpus read_folder(std::string const& where) {
  corpus result;
  std::vector<std::filesystem::path> files;
  result.unreadable = list_files(where, files);
  std::sort(files.begin(), files.end());  // the order of a folder is not the same everywhere
  for (std::filesystem::path const& path : files) {
    std::size_t const size = result.text.size();
    std::string bytes;
    try {
      bytes = read_bytes(path);
    } catch (user_error const&) {
      ++result.unreadable;
      continue;
    }
    if (decode_utf8(bytes, result.text)) result.text.resize(size), ++result.no_text;
    else ++result.files;
  }
  if (result.text.empty()) throw user_error(where + ": holds no UTF-8 text file that is not empty" + result.left_out());
  return result;
}

}  // namespace detail

/// Reads one file or all text files of a folder, in the order of their names.
inline corpus read_corpus(std::string const& where) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::file_status const status = fs::status(where, error);
  if (status.type() == fs::file_type::not_found) throw user_error(where + ": no such file or folder");
  if (!fs::exists(status)) throw user_error(where + ": cannot be looked at (" + error.message() + ")");
  if (fs::is_directory(status)) return detail::read_folder(where);
  if (!fs::is_regular_file(status)) throw user_error(where + ": is neither a file nor a folder");
  corpus result;
  if (auto const bad = decode_utf8(read_bytes(where), result.text))
    throw user_error(where + ": is not UTF-8 text (byte " + std::to_string(*bad) + ")");
  if (result.text.empty()) throw user_error(where + ": is empty");
  result.files = 1;
  return result;
}

}  // namespace char_lm

#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "error.hpp"

/// Whole files, read and written.

namespace char_lm {

inline std::string read_bytes(std::filesystem::path const& path) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> const file(std::fopen(path.c_str(), "rb"), &std::fclose);
  std::string bytes;
  char chunk[1 << 16];
  std::size_t got = 0;
  while (file && (got = std::fread(chunk, 1, sizeof chunk, file.get())) > 0) bytes.append(chunk, got);
  if (!file || std::ferror(file.get()))
    throw user_error(path.string() + ": cannot be read (" + std::strerror(errno) + ")");
  return bytes;
}

namespace detail {

inline user_error not_written(std::string const& path, int error) {
  return user_error(path + ": cannot be written (" + std::strerror(error) + ")");
}

/// The file that writing to `path` creates or replaces. A symbolic link stays and its target is replaced; a device, a
/// pipe or a folder is nothing that a file could take the place of without harm.
inline std::filesystem::path written_file(std::string const& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::file_status const entry = fs::symlink_status(path, error);
  if (entry.type() == fs::file_type::not_found) return path;
  fs::file_status const file = fs::status(path, error);
  if (fs::is_directory(file)) throw user_error(path + ": is a folder");
  if (!fs::exists(file) && fs::is_symlink(entry)) throw user_error(path + ": is a symbolic link that leads nowhere");
  if (!fs::exists(file)) throw user_error(path + ": cannot be looked at (" + error.message() + ")");
  if (!fs::is_regular_file(file)) throw user_error(path + ": is there and is not a regular file");
  if (!fs::is_symlink(entry)) return path;
  fs::path const target = fs::canonical(path, error);
  if (error) throw user_error(path + ": cannot be looked at (" + error.message() + ")");
  return target;
}

/// Beside the file, so that it can be renamed to it.
inline std::string partial_name(std::filesystem::path const& file) {
  return file.string() + ".partial." + std::to_string(::getpid());
}

}  // namespace detail

/// Writes a file of its own and renames it, so that `path` holds either what it held or all the bytes.
inline void write_bytes(std::string const& path, std::string const& bytes) {
  std::filesystem::path const target = detail::written_file(path);
  std::string const partial = detail::partial_name(target);
  std::FILE* const file = std::fopen(partial.c_str(), "wbx");
  if (file == nullptr) throw detail::not_written(path, errno);
  int error = 0;  // the first one; later calls may change errno
  auto const require = [&](bool good) {
    if (!good && error == 0) error = errno != 0 ? errno : EIO;
  };
  require(std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size() && std::fflush(file) == 0 &&
          ::fsync(::fileno(file)) == 0);
  require(std::fclose(file) == 0);
  if (error == 0) require(std::rename(partial.c_str(), target.c_str()) == 0);
  if (error == 0) return;
  std::remove(partial.c_str());
  throw detail::not_written(path, error);
}

/// Whether `write_bytes` can be expected to succeed; better asked before training than after.
inline void check_writable(std::string const& path) {
  namespace fs = std::filesystem;
  if (path.empty()) throw user_error("--save is '', needs the name of a file");
  fs::path const target = detail::written_file(path);
  std::error_code error;
  if (!fs::is_directory(target.has_parent_path() ? target.parent_path() : fs::path("."), error))
    throw user_error(path + ": its folder does not exist");
  // Only trying tells: permissions, read-only file systems, names that are too long.
  std::string const partial = detail::partial_name(target);
  std::FILE* const file = std::fopen(partial.c_str(), "wbx");
  if (file == nullptr) throw detail::not_written(path, errno);
  std::fclose(file);
  std::remove(partial.c_str());
}

}  // namespace char_lm

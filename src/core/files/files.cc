// Reads whole files of any kind.
#include "sextant/core/files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <system_error>

#include "core/files/file_handle.h"
#include "sextant/core/missing_file.h"

namespace sextant {

void fail_file(const std::string& path, const char* what, int reason) {
  const std::string where = path.empty() ? "path" : path;
  const std::string why = std::string(what) + ": " + std::generic_category().message(reason);
  if (reason == ENOENT) throw MissingFile(where, why);
  throw Error(where, why);
}

namespace {

void resize_for(const std::string& path, std::string& bytes, std::uint64_t wanted) {
  const auto too_much = [&] {
    return Error(path, "does not fit in memory: " + std::to_string(wanted) + " bytes");
  };
  if (wanted > bytes.max_size()) throw too_much();
  try {
    bytes.resize(static_cast<std::size_t>(wanted));
  } catch (const std::bad_alloc&) {
    throw too_much();
  }
}

}  // namespace

std::string read_file(const std::string& path, std::uint64_t limit) {
  check_path(path);
  return read_open_file(FileHandle(path, O_RDONLY), path, limit);
}

std::string read_open_file(const FileHandle& file, const std::string& path, std::uint64_t limit) {
  if (!file.is_open()) fail_file(path, "cannot be opened", errno);
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) fail_file(path, "cannot be read", errno);
  if (S_ISDIR(status.st_mode)) throw Error(path, "must be a file, got a folder");
  const auto too_large = [&] {
    return Error(path, "must be at most " + std::to_string(limit) + " bytes long");
  };
  std::uint64_t expected = 0;
  if (S_ISREG(status.st_mode)) expected = static_cast<std::uint64_t>(status.st_size);
  if (expected > limit) throw too_large();

  // The size is only a hint: files of /proc say 0, pipes say nothing, and a file may grow while it
  // is read. One byte more than expected shows the end without growing.
  std::string bytes;
  std::size_t length = 0;
  while (true) {
    if (length == bytes.size()) {
      const std::uint64_t wanted = std::max<std::uint64_t>(
          {expected + 1, std::uint64_t{length} + length / 2, std::uint64_t{4096}});
      resize_for(path, bytes, wanted);
    }
    const std::size_t wanted = std::min(bytes.size() - length, std::size_t{1} << 30);
    const ssize_t got = ::read(file.number(), bytes.data() + length, wanted);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_file(path, "cannot be read", errno);
    if (got == 0) break;
    length += static_cast<std::size_t>(got);
    if (length > limit) throw too_large();
  }
  bytes.resize(length);
  return bytes;
}

}  // namespace sextant

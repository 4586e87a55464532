// Writes whole files with POSIX calls, because only they can say "flushed" and "replaced in one
// step". The bytes go into a file without a name if the system supports that (O_TMPFILE): it
// disappears with the process in every case. A link cannot replace an existing file, so the
// complete file then has a temporary name between two system calls.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>

#include "core/files/file_filler.h"
#include "core/files/file_handle.h"
#include "core/files/folder_sync.h"
#include "core/files/temporary_file.h"
#include "sextant/core/files.h"

namespace sextant {
namespace {

using Pieces = std::span<const std::string_view>;

// 0, or the reason why not all bytes could be written.
int write_all(int descriptor, Pieces pieces) {
  for (std::string_view bytes : pieces) {
    while (!bytes.empty()) {
      // Some systems refuse more than 2 GiB at a time.
      const std::size_t count = std::min<std::size_t>(bytes.size(), std::size_t{1} << 30);
      const ssize_t written = ::write(descriptor, bytes.data(), count);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return errno;
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  return 0;
}

// Names of open files: replacing their targets would take them from the process that holds them
// open.
bool names_open_file(const std::string& path) {
  return path == "/dev/stdout" || path == "/dev/stderr" || path.starts_with("/dev/fd/") ||
         path.starts_with("/proc/");
}

// Writes to targets that cannot or must not be replaced: devices, pipes, open files.
void write_in_place(const std::string& path, const FileFiller& fill) {
  FileHandle file(path, O_WRONLY | O_APPEND);
  if (!file.is_open()) fail_file(path, "cannot be opened for writing", errno);
  int problem = fill(file.number());
  if (problem == 0) problem = file.close();
  if (problem != 0) fail_file(path, "cannot be written", problem);
}

// The data and the place; each function returns 0 or the reason for a failure.
class Replacement {
 public:
  Replacement(std::string target, const FileFiller& fill, const struct stat* replaced)
      : target_(std::move(target)), fill_(fill), replaced_(replaced) {}

  int run() {
    const std::optional<int> unnamed = run_unnamed();
    const int problem = unnamed ? *unnamed : run_named();
    return problem == 0 ? sync_names(parent_folder(target_)) : problem;
  }

 private:
  // Everything but the name, safe against a power cut.
  int fill(const FileHandle& file) const {
    if (replaced_ != nullptr && ::fchmod(file.number(), replaced_->st_mode & 07777) != 0) {
      return errno;
    }
    if (const int problem = fill_(file.number())) return problem;
    return ::fsync(file.number()) != 0 ? errno : 0;
  }

  int rename_to_target(TemporaryName& temporary) const {
    if (::rename(temporary.path().c_str(), target_.c_str()) != 0) return errno;
    temporary.forget();
    return 0;
  }

  // Nothing: the system or the file system has no files without a name.
  std::optional<int> run_unnamed() const {
#ifdef O_TMPFILE
    const FileHandle file(parent_folder(target_), O_TMPFILE | O_WRONLY, 0666);
    if (!file.is_open()) return std::nullopt;
    if (const int problem = fill(file)) return problem;
    const std::string open_file = "/proc/self/fd/" + std::to_string(file.number());
    // Any problem except a name that exists occurs again, and is reported, with a named file.
    const auto give_name = [&](const std::string& name) {
      const int status =
          ::linkat(AT_FDCWD, open_file.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW);
      return status == 0 ? 0 : errno;
    };
    if (replaced_ == nullptr) {
      const int problem = give_name(target_);
      if (problem == 0) return 0;
      if (problem != EEXIST) return std::nullopt;
    }
    while (true) {
      TemporaryName temporary(temporary_beside(target_));
      const int problem = give_name(temporary.path());
      if (problem == 0) return rename_to_target(temporary);
      temporary.forget();
      if (problem != EEXIST) return std::nullopt;
    }
#else
    return std::nullopt;
#endif
  }

  int run_named() const {
    while (true) {
      TemporaryName temporary(temporary_beside(target_));
      FileHandle file(temporary.path(), O_WRONLY | O_CREAT | O_EXCL, 0666);
      if (!file.is_open()) {
        const int problem = errno;
        temporary.forget();
        if (problem == EEXIST) continue;
        return problem;
      }
      if (const int problem = fill(file)) return problem;
      if (const int problem = file.close()) return problem;
      return rename_to_target(temporary);
    }
  }

  std::string target_;
  const FileFiller& fill_;
  const struct stat* replaced_;  // null: nothing is there yet
};

// Whether something is there.
bool stat_file(const std::string& path, struct stat& status) {
  check_path(path);
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) throw Error(path, "must be a file, got a folder");
  return exists;
}

void replace_file(const std::string& path, const FileFiller& fill, const struct stat* replaced) {
  // A folder that can be written would let us replace a file that cannot.
  if (replaced != nullptr && ::access(path.c_str(), W_OK) != 0) {
    fail_file(path, "cannot be written", errno);
  }
  const int problem = Replacement(follow_links(path), fill, replaced).run();
  if (problem != 0) fail_file(path, "cannot be written", problem);
}

}  // namespace

void write_file(const std::string& path, std::string_view bytes) {
  write_file(path, Pieces(&bytes, 1));
}

void write_file(const std::string& path, Pieces pieces) {
  const FileFiller fill = [pieces](int descriptor) { return write_all(descriptor, pieces); };
  struct stat status {};
  const bool exists = stat_file(path, status);
  if ((exists && !S_ISREG(status.st_mode)) || names_open_file(path)) {
    return write_in_place(path, fill);
  }
  replace_file(path, fill, exists ? &status : nullptr);
}

void write_file_with(const std::string& path, const FileFiller& fill) {
  struct stat status {};
  const bool exists = stat_file(path, status);
  if ((exists && !S_ISREG(status.st_mode)) || names_open_file(path)) {
    throw Error(path, "must be a file, got a device or a pipe");
  }
  replace_file(path, fill, exists ? &status : nullptr);
}

int write_at(int descriptor, std::uint64_t at, std::string_view bytes) noexcept {
  while (!bytes.empty()) {
    const std::size_t count = std::min<std::size_t>(bytes.size(), std::size_t{1} << 30);
    const ssize_t written = ::pwrite(descriptor, bytes.data(), count, static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    at += static_cast<std::uint64_t>(written);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace sextant

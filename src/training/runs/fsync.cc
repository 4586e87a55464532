// POSIX calls: they alone say "flushed", "replaced in one step" and "held".
#include "training/runs/fsync.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/files/folder_sync.h"
#include "sextant/core/missing_file.h"

namespace sextant {
namespace {

[[noreturn]] void fail(const std::string& path, const char* what, int reason) {
  const std::string why = std::string(what) + ": " + std::generic_category().message(reason);
  if (reason == ENOENT) throw MissingFile(path, why);
  throw Error(path, why);
}

bool leads_to(const std::string& path, int descriptor) {
  struct stat found {
  }, held{};
  return ::stat(path.c_str(), &found) == 0 && ::fstat(descriptor, &held) == 0 &&
         found.st_dev == held.st_dev && found.st_ino == held.st_ino;
}

// The path of an open folder, or empty where the system does not say.
std::string system_path(int descriptor) {
#ifdef F_GETPATH
  char path[PATH_MAX];
  return ::fcntl(descriptor, F_GETPATH, path) == 0 ? path : "";
#else
  std::error_code none;
  return std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(descriptor), none)
      .string();
#endif
}

}  // namespace

void make_folder(const std::string& path) {
  if (path.empty()) fail(path, "cannot be made", ENOENT);
  std::error_code problem;
  std::filesystem::path made;
  for (const auto& part : std::filesystem::path(path)) {
    made /= part;
    if (std::filesystem::is_directory(made, problem)) continue;
    if (::mkdir(made.c_str(), 0777) == 0) {
      sync_folder(parent_folder(made.string()));
    } else if (errno != EEXIST) {
      fail(path, "cannot be made", errno);
    }
  }
  if (!std::filesystem::is_directory(path, problem)) {
    throw Error(path, "must be a folder, got a file");
  }
}

void add_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) != 0) fail(path, "cannot be made", errno);
  sync_folder(parent_folder(path));
}

void sync_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail(path, "cannot be opened", errno);
  // Some file systems cannot flush and say so; there is nothing more to be done there.
  const int problem = ::fsync(descriptor) != 0 && errno != EINVAL ? errno : 0;
  ::close(descriptor);
  if (problem != 0) fail(path, "cannot be written", problem);
}

void sync_folder(const std::string& path) {
  if (const int problem = sync_names(path)) fail(path, "cannot be written", problem);
}

void rename_folder(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) fail(to, "cannot be written", errno);
  sync_folder(parent_folder(to));
}

void replace_link(const std::string& path, const std::string& target) {
  const std::string temporary = path + ".tmp";
  ::unlink(temporary.c_str());  // of a process that was killed
  if (::symlink(target.c_str(), temporary.c_str()) != 0) fail(path, "cannot be written", errno);
  if (std::rename(temporary.c_str(), path.c_str()) != 0) {
    const int problem = errno;
    ::unlink(temporary.c_str());
    fail(path, "cannot be written", problem);
  }
  sync_folder(parent_folder(path));
}

void remove_folder(const std::string& path) noexcept {
  try {
    std::error_code problem;
    std::filesystem::remove_all(path, problem);
  } catch (const std::exception&) {  // no memory: the rest is removed another time
  }
}

FolderLock::FolderLock(const std::string& path)
    : descriptor_(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (descriptor_ < 0) fail(path, "cannot be opened", errno);
  // Where a file system has no locks, the folder is simply not held.
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(descriptor_);
    throw Error(path, "must be trained by one process at a time, got another one at work");
  }
}

FolderLock::FolderLock(FolderLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

std::string FolderLock::find(const std::string& path) const {
  if (leads_to(path, descriptor_)) return path;
  std::string now = system_path(descriptor_);
  if (!now.empty() && leads_to(now, descriptor_)) return now;
  throw Error(path, "must be there while it trains, but was removed");
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace sextant

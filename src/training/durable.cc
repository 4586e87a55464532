// POSIX calls: they alone say "flushed", "replaced in one step" and "held".
#include "training/durable.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "sextant/core/error.h"

namespace sextant {
namespace {

[[noreturn]] void fail(const std::string& path, const char* what, int reason) {
  throw Error(path, std::string(what) + ": " + std::generic_category().message(reason));
}

void sync(const std::string& path, int flags) {
  const int descriptor = ::open(path.c_str(), flags | O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail(path, "cannot be opened", errno);
  // Some file systems cannot flush a folder and say so; there is nothing more to be done there.
  const int problem = ::fsync(descriptor) != 0 && errno != EINVAL ? errno : 0;
  ::close(descriptor);
  if (problem != 0) fail(path, "cannot be written", problem);
}

std::string parent_of(const std::string& path) {
  const auto parent = std::filesystem::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

}  // namespace

void make_folder(const std::string& path) {
  std::error_code problem;
  const bool made = std::filesystem::create_directories(path, problem);
  if (!problem && !std::filesystem::is_directory(path, problem) && !problem) {
    throw Error(path, "must be a folder, got a file");
  }
  if (problem) fail(path, "cannot be made", problem.value());
  if (made) sync_folder(parent_of(path));
}

void sync_file(const std::string& path) { sync(path, 0); }

void sync_folder(const std::string& path) { sync(path, O_DIRECTORY); }

void rename_folder(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) fail(to, "cannot be written", errno);
  sync_folder(parent_of(to));
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
  sync_folder(parent_of(path));
}

void remove_folder(const std::string& path) noexcept {
  try {
    std::error_code problem;
    std::filesystem::remove_all(path, problem);
  } catch (const std::exception&) {  // no memory: what is left goes another time
  }
}

FolderLock::FolderLock(const std::string& path)
    : descriptor_(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (descriptor_ < 0) fail(path, "cannot be opened", errno);
  // Where a file system has no locks, the folder is simply not held.
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(descriptor_);
    throw Error(path, "must be trained by one process at a time, another one does");
  }
}

FolderLock::FolderLock(FolderLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace sextant

// An open file, closed at the end of its scope.
#pragma once

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string>

#include "sextant/core/error.h"

namespace sextant {

class FileHandle {
 public:
  FileHandle() = default;  // of no file
  FileHandle(const std::string& path, int flags, mode_t mode = 0) {
    do number_ = ::open(path.c_str(), flags | O_CLOEXEC, mode);
    while (number_ < 0 && errno == EINTR);
  }
  FileHandle(const FileHandle&) = delete;
  FileHandle& operator=(const FileHandle&) = delete;
  ~FileHandle() { close(); }

  int number() const noexcept { return number_; }
  bool is_open() const noexcept { return number_ >= 0; }
  // 0, or the reason why the system could not close: some file systems report a full disk only
  // here.
  int close() noexcept {
    const int number = number_;
    number_ = -1;
    return number >= 0 && ::close(number) != 0 && errno != EINTR ? errno : 0;
  }

 private:
  int number_ = -1;
};

// Throws Error for a path that no system call can take.
inline void check_path(const std::string& path) {
  if (path.empty()) throw Error("path", "must not be empty");
  if (path.find('\0') != std::string::npos) throw Error("path", "must not contain a zero byte");
}

// As read_file(), of a file that was just opened, or could not be.
std::string read_open_file(const FileHandle& file, const std::string& path, std::uint64_t limit);

// Throws Error: `what` and the system's reason.
[[noreturn]] void fail_file(const std::string& path, const char* what, int reason);

}  // namespace sextant

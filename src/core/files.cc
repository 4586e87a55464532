// Reading and writing whole files with POSIX calls, because only they can say "flushed" and
// "replaced in one step".
#include "sextant/core/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <new>
#include <system_error>

#include "sextant/core/error.h"

namespace sextant {
namespace {

using Parts = std::span<const std::string_view>;

[[noreturn]] void fail(const std::string& path, const char* what, int reason) {
  throw Error(path.empty() ? "path" : path,
              std::string(what) + ": " + std::generic_category().message(reason));
}

class Descriptor {
 public:
  Descriptor(const std::string& path, int flags, mode_t mode = 0) {
    do number_ = ::open(path.c_str(), flags | O_CLOEXEC, mode);
    while (number_ < 0 && errno == EINTR);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }

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

void check_path(const std::string& path) {
  if (path.empty()) throw Error("path", "must not be empty");
  if (path.find('\0') != std::string::npos) throw Error("path", "must not contain a zero byte");
}

// 0, or the reason why not all bytes could be written.
int write_all(int descriptor, Parts parts) {
  for (std::string_view bytes : parts) {
    while (!bytes.empty()) {
      // Some systems refuse more than 2 GiB at a time.
      const std::size_t part = std::min<std::size_t>(bytes.size(), std::size_t{1} << 30);
      const ssize_t written = ::write(descriptor, bytes.data(), part);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return errno;
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  return 0;
}

// Names of open files: replacing what they lead to would take it away from whoever holds it open.
bool names_open_file(const std::string& path) {
  return path == "/dev/stdout" || path == "/dev/stderr" || path.starts_with("/dev/fd/") ||
         path.starts_with("/proc/");
}

// For what cannot or must not be replaced: devices, pipes, open files.
void write_in_place(const std::string& path, Parts parts) {
  Descriptor file(path, O_WRONLY | O_APPEND);
  if (!file.is_open()) fail(path, "cannot be opened for writing", errno);
  int problem = write_all(file.number(), parts);
  if (problem == 0) problem = file.close();
  if (problem != 0) fail(path, "cannot be written", problem);
}

// Where a chain of symbolic links ends, whether or not anything is there yet, so that the link
// itself stays a link.
std::string follow_links(const std::string& path) {
  constexpr int kMostLinks = 40;  // as many as Linux follows
  std::filesystem::path target = path;
  std::error_code problem;
  for (int i = 0; i < kMostLinks; ++i) {
    const auto next = std::filesystem::read_symlink(target, problem);
    if (problem) return target.string();  // no link
    target = target.parent_path() / next;
  }
  fail(path, "cannot be written", ELOOP);
}

// A new file beside `target`, under a name that nobody uses and that is short even when the final
// name is as long as allowed.
std::string temporary_beside(const std::string& target) {
  static std::atomic<unsigned> serial{0};
  const auto name =
      ".sextant-" + std::to_string(::getpid()) + "-" + std::to_string(serial++) + ".tmp";
  return (std::filesystem::path(target).parent_path() / name).string();
}

// 0, or the reason why `temporary` does not hold the bytes, safe against a power cut.
int fill(const std::string& temporary, Parts parts, const struct stat* replaced, bool& created) {
  Descriptor file(temporary, O_WRONLY | O_CREAT | O_EXCL, 0666);
  created = file.is_open();
  if (!created) return errno;
  if (replaced != nullptr && ::fchmod(file.number(), replaced->st_mode & 07777) != 0) return errno;
  if (const int problem = write_all(file.number(), parts)) return problem;
  if (::fsync(file.number()) != 0) return errno;
  return file.close();
}

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
  const Descriptor file(path, O_RDONLY);
  if (!file.is_open()) fail(path, "cannot be opened", errno);
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) fail(path, "cannot be read", errno);
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
    const std::size_t part = std::min(bytes.size() - length, std::size_t{1} << 30);
    const ssize_t got = ::read(file.number(), bytes.data() + length, part);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(path, "cannot be read", errno);
    if (got == 0) break;
    length += static_cast<std::size_t>(got);
    if (length > limit) throw too_large();
  }
  bytes.resize(length);
  return bytes;
}

void write_file(const std::string& path, std::string_view bytes) {
  write_file(path, Parts(&bytes, 1));
}

void write_file(const std::string& path, Parts parts) {
  check_path(path);
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) throw Error(path, "must be a file, got a folder");
  if ((exists && !S_ISREG(status.st_mode)) || names_open_file(path)) {
    write_in_place(path, parts);
    return;
  }
  // A folder that can be written would let us replace a file that cannot.
  if (exists && ::access(path.c_str(), W_OK) != 0) fail(path, "cannot be written", errno);

  const std::string target = follow_links(path);
  std::string temporary;
  bool created = false;
  int problem = EEXIST;
  while (problem == EEXIST && !created) {
    temporary = temporary_beside(target);
    problem = fill(temporary, parts, exists ? &status : nullptr, created);
  }
  if (problem == 0 && ::rename(temporary.c_str(), target.c_str()) != 0) problem = errno;
  if (problem == 0) return;
  if (created) ::unlink(temporary.c_str());
  fail(path, "cannot be written", problem);
}

// FNV-1a over 64-bit words. Each step can be undone, so a change within one word always shows.
std::string checksum_of(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  const auto add = [&](std::uint64_t word) { hash = (hash ^ word) * 0x100000001b3U; };
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min<std::size_t>(8, bytes.size() - at));
    add(word);
    hash ^= hash >> 29;
  }
  add(bytes.size());
  std::string text(16, '0');
  for (std::size_t i = 16; i-- > 0; hash >>= 4) text[i] = "0123456789abcdef"[hash & 15];
  return text;
}

}  // namespace sextant

// A short list that a signal handler can read: pointers that change hands in one step, and memory
// that is not freed once a handler has taken it.
#include "core/files/temporary_file.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/files/file_handle.h"
#include "sextant/core/files.h"

namespace sextant {
namespace {

// As many as threads write files at the same time; of more, the rest is not listed.
constexpr std::size_t kMaxNames = 64;
std::array<std::atomic<char*>, kMaxNames> listed_names;
std::array<std::atomic<char*>, kMaxNames> taken_names;  // by a handler: never freed, never lost
static_assert(std::atomic<char*>::is_always_lock_free, "a signal handler cannot wait");

char* list(const std::string& path) {
  char* const copy = new char[path.size() + 1];
  std::memcpy(copy, path.c_str(), path.size() + 1);
  for (std::atomic<char*>& name : listed_names) {
    char* none = nullptr;
    if (name.compare_exchange_strong(none, copy)) return copy;
  }
  delete[] copy;
  return nullptr;
}

}  // namespace

TemporaryName::TemporaryName(std::string path) : path_(std::move(path)), listed_(list(path_)) {}

TemporaryName::~TemporaryName() {
  if (path_.empty()) return;
  ::unlink(path_.c_str());
  forget();
}

void TemporaryName::forget() noexcept {
  path_.clear();
  if (listed_ == nullptr) return;
  for (std::atomic<char*>& name : listed_names) {
    char* expected = listed_;
    if (!name.compare_exchange_strong(expected, nullptr)) continue;
    delete[] std::exchange(listed_, nullptr);
    return;
  }
  listed_ = nullptr;  // a handler has it, for the rest of the process
}

std::string follow_links(const std::string& path) {
  constexpr int kMaxLinks = 40;  // as many as Linux follows
  std::filesystem::path target = path;
  std::error_code problem;
  for (int i = 0; i < kMaxLinks; ++i) {
    const auto next = std::filesystem::read_symlink(target, problem);
    if (problem) return target.string();  // no link
    target = target.parent_path() / next;
  }
  fail_file(path, "cannot be written", ELOOP);
}

std::string temporary_beside(const std::string& target) {
  static std::atomic<unsigned> serial{0};
  const auto name =
      ".sextant-" + std::to_string(::getpid()) + "-" + std::to_string(serial++) + ".tmp";
  return (std::filesystem::path(target).parent_path() / name).string();
}

bool is_ended_process(std::string_view digits) noexcept {
  int process = 0;
  const auto [end, problem] =
      std::from_chars(digits.data(), digits.data() + digits.size(), process);
  const bool is_number = problem == std::errc() && end == digits.data() + digits.size();
  return is_number && process > 0 && ::kill(process, 0) != 0 && errno == ESRCH;
}

void remove_temporary_files() noexcept {
  const int kept = errno;
  for (std::size_t i = 0; i < kMaxNames; ++i) {
    char* const path = listed_names[i].exchange(nullptr);
    if (path == nullptr) continue;
    ::unlink(path);
    taken_names[i] = path;
  }
  errno = kept;
}

}  // namespace sextant

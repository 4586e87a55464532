// Reading whole files, of whatever kind.
#include "sextant/core/files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <system_error>

#include "core/files/file_handle.h"
#include "sextant/core/error.h"

namespace sextant {

void fail_file(const std::string& path, const char* what, int reason) {
  throw Error(path.empty() ? "path" : path,
              std::string(what) + ": " + std::generic_category().message(reason));
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
  const FileHandle file(path, O_RDONLY);
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

// FNV-1a over 64-bit words. Each step can be undone, so a change within one word always shows.
void Checksum::add_word(std::uint64_t word) noexcept {
  hash_ = (hash_ ^ word) * 0x100000001b3U;
  hash_ ^= hash_ >> 29;
}

void Checksum::add(std::string_view bytes) noexcept {
  const std::size_t kept = size_ % 8;
  size_ += bytes.size();
  if (kept > 0) {
    const std::size_t taken = std::min(8 - kept, bytes.size());
    std::memcpy(rest_ + kept, bytes.data(), taken);
    bytes.remove_prefix(taken);
    if (kept + taken < 8) return;
    std::uint64_t word = 0;
    std::memcpy(&word, rest_, 8);
    add_word(word);
  }
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), 8);
    add_word(word);
  }
  if (!bytes.empty()) std::memcpy(rest_, bytes.data(), bytes.size());
}

std::string Checksum::text() const {
  Checksum last = *this;
  if (size_ % 8 > 0) {
    std::uint64_t word = 0;
    std::memcpy(&word, rest_, size_ % 8);
    last.add_word(word);
  }
  std::uint64_t hash = (last.hash_ ^ size_) * 0x100000001b3U;
  std::string text(16, '0');
  for (std::size_t i = 16; i-- > 0; hash >>= 4) text[i] = "0123456789abcdef"[hash & 15];
  return text;
}

std::string checksum_of(std::string_view bytes) {
  Checksum sum;
  sum.add(bytes);
  return sum.text();
}

}  // namespace sextant

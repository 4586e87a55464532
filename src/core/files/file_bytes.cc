// Reading at any place (pread), and mapping.
#include "core/files/file_bytes.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>

#include "sextant/core/files.h"

namespace sextant {
namespace {

std::uint64_t size_of(const FileHandle& file, const std::string& path) {
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) fail_file(path, "cannot be read", errno);
  return S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0;
}

constexpr std::uint64_t kMaxHeld = std::uint64_t{1} << 40;  // of read_file()

[[noreturn]] void fail_shorter(const std::string& path, std::uint64_t size) {
  throw Error(path, "became shorter while it was read: it had " + std::to_string(size) + " bytes");
}

}  // namespace

FileBytes::FileBytes(const std::string& path) : path_(path), file_(path, O_RDONLY) {
  check_path(path);
  if (!file_.is_open()) fail_file(path, "cannot be opened", errno);
  size_ = size_of(file_, path);
  if (size_ > 0) return;
  held_ = read_open_file(file_, path, kMaxHeld);  // a pipe can be opened once
  memory_ = held_;
  size_ = held_.size();
}

FileBytes::FileBytes(std::string_view bytes, std::string_view name)
    : path_(name), size_(bytes.size()), memory_(bytes.empty() ? std::string_view("") : bytes) {}

FileBytes::~FileBytes() {
  if (mapped_.data() == nullptr || !copied_.empty()) return;
  ::munmap(const_cast<std::byte*>(mapped_.data()), mapped_.size());
}

void FileBytes::read(std::uint64_t at, std::span<std::byte> to) const {
  if (memory_.data() != nullptr) {
    if (!to.empty()) std::memcpy(to.data(), memory_.data() + at, to.size());
    return;
  }
  while (!to.empty()) {
    // Some systems refuse more than 2 GiB at a time.
    const std::size_t wanted = std::min(to.size(), std::size_t{1} << 30);
    const ssize_t got = ::pread(file_.number(), to.data(), wanted, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_file(path_, "cannot be read", errno);
    if (got == 0) fail_shorter(path_, size_);
    at += static_cast<std::uint64_t>(got);
    to = to.subspan(static_cast<std::size_t>(got));
  }
}

std::span<const std::byte> FileBytes::map() const {
  if (memory_.data() != nullptr) return std::as_bytes(std::span<const char>(memory_));
  const std::lock_guard lock(mutex_);
  if (mapped_.data() != nullptr) return mapped_;
  // Reading a mapped page that the file no longer has would end the process.
  if (size_of(file_, path_) < size_) fail_shorter(path_, size_);
  const auto length = static_cast<std::size_t>(size_);
#ifndef __EMSCRIPTEN__  // where a mapping is a copy
  void* const mapped = ::mmap(nullptr, length, PROT_READ, MAP_PRIVATE, file_.number(), 0);
  if (mapped != MAP_FAILED) return mapped_ = {static_cast<const std::byte*>(mapped), length};
#endif
  copied_.resize(length);
  read(0, std::as_writable_bytes(std::span(copied_)));
  return mapped_ = std::as_bytes(std::span<const char>(copied_));
}

void FileBytes::release([[maybe_unused]] std::span<const std::byte> read) const noexcept {
#ifndef __EMSCRIPTEN__
  const std::lock_guard lock(mutex_);
  const auto address = [](const std::byte* byte) { return reinterpret_cast<std::uintptr_t>(byte); };
  const std::uintptr_t first = address(read.data()), last = first + read.size();
  const std::uintptr_t mapped = address(mapped_.data());
  if (!copied_.empty() || first < mapped || last > mapped + mapped_.size()) return;
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const std::uintptr_t begin = first / page * page, end = last / page * page;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
#endif
}

}  // namespace sextant

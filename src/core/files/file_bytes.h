// The bytes of one file, looked at piece by piece: of a file that stays open, or in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "core/files/file_handle.h"

namespace sextant {

// Any number of threads may use a const one.
class FileBytes {
 public:
  // Throws Error as read_file(). A file without a known size (a pipe, a file of /proc) is read into
  // memory.
  explicit FileBytes(const std::string& path);
  // Borrows the bytes; errors show `name` as the path.
  FileBytes(std::string_view bytes, std::string_view name);
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;
  ~FileBytes();

  const std::string& path() const noexcept { return path_; }
  std::uint64_t size() const noexcept { return size_; }  // when it was opened

  // Copies bytes [at, at + to.size()), which must be inside. Throws Error if the file became
  // shorter or cannot be read.
  void read(std::uint64_t at, std::span<std::byte> to) const;
  // All of it, mapped at the first call; read into memory where the system cannot map it. Throws
  // Error where the file became shorter.
  std::span<const std::byte> map() const;
  // Releases the memory of whole pages of map() in `read`, which are read again when they are used;
  // it has no effect on other bytes, or if map() is no mapping.
  void release(std::span<const std::byte> read) const noexcept;

 private:
  std::string path_;
  FileHandle file_;
  std::uint64_t size_ = 0;
  std::string held_;
  std::string_view memory_;  // held or borrowed; null: in the file alone
  mutable std::mutex mutex_;
  mutable std::span<const std::byte> mapped_;  // null: not yet
  mutable std::string copied_;                 // in its place
};

}  // namespace sextant

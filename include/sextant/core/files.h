// Reading and writing whole files; a file that is not complete never has its final name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sextant {

// The bytes of a file. Throws Error that names the path and the reason (missing, a folder, no
// permission, larger than limit).
std::string read_file(const std::string& path, std::uint64_t limit = std::uint64_t{1} << 40);

// Writes all bytes without the final name, flushes them, then gives the file its name and flushes
// the folder. On any failure the old file stays and nothing else remains; only if flushing the
// folder fails, the new file is already there. A symbolic link stays a link and its target is
// replaced; an existing file keeps its permissions. What cannot be replaced, such as a pipe or
// /dev/stdout, is written to directly. Throws Error that names the path and the reason.
//
// On Linux the bytes go into a file without a name, so even SIGKILL leaves nothing behind. Two
// exceptions: a file that replaces another is called ".sextant-PID-N.tmp" between two system calls,
// the second of which renames it; and on file systems without such files (O_TMPFILE) it is called
// so while it is written. remove_temporary_files() removes what has such a name.
void write_file(const std::string& path, std::string_view bytes);

// The same for one file given as consecutive pieces, so that a large file need not be contiguous in
// memory.
void write_file(const std::string& path, std::span<const std::string_view> pieces);

// Removes the files that write_file() has under temporary names at this moment, in any thread,
// which then fails. For a program that is about to end: a signal handler may call it.
void remove_temporary_files() noexcept;

// Tells whether bytes are still the same: against damage and mistakes, not against an attacker.
class Checksum {
 public:
  // The next bytes: any number of pieces have the checksum of the whole.
  void add(std::span<const std::byte> bytes) noexcept;
  void add(std::string_view bytes) noexcept { add(std::as_bytes(std::span<const char>(bytes))); }
  std::string text() const;  // 16 hexadecimal digits, of what was added

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325U, length_ = 0;
  std::uint64_t word_ = 0;  // the bytes after the last whole word
};
std::string checksum_of(std::string_view bytes);
// Of a file, which is read in pieces. Throws Error as read_file().
struct FileChecksum {
  std::uint64_t bytes = 0;
  std::string checksum;
};
FileChecksum checksum_of_file(const std::string& path);

}  // namespace sextant

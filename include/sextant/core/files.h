// Reads and writes whole files. An incomplete file never has its final name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sextant {

// Returns the bytes of a file. Throws an Error with the path and the reason (missing, a folder, no
// permission, larger than limit).
std::string read_file(const std::string& path, std::uint64_t limit = std::uint64_t{1} << 40);

// Writes all bytes under a temporary name, flushes them, then gives the file its name and flushes
// the folder. After a failure the old file is unchanged and nothing else remains; only if flushing
// the folder fails, the new file is already there. A symbolic link stays a link and its target is
// replaced; an existing file keeps its permissions. A pipe or /dev/stdout, which cannot be
// replaced, is written to directly. Throws an Error with the path and the reason.
//
// On Linux the bytes go into a file without a name, so even SIGKILL leaves nothing. There are two
// exceptions: a file that replaces another is called ".sextant-PID-N.tmp" between two system calls,
// the second of which renames it; and on file systems without such files (O_TMPFILE) it has this
// name while it is written. remove_temporary_files() removes files with such names.
void write_file(const std::string& path, std::string_view bytes);

// Writes one file from consecutive pieces, so that a large file need not be contiguous in memory.
void write_file(const std::string& path, std::span<const std::string_view> pieces);

// Removes the temporary files of all calls of write_file() that run now, in any thread; these calls
// then fail. This is for a program that is about to end: a signal handler may call it.
void remove_temporary_files() noexcept;

// Detects changed bytes. It protects against damage and mistakes, not against an attacker.
class Checksum {
 public:
  // Adds the next bytes: the checksum does not depend on the division into pieces.
  void add(std::span<const std::byte> bytes) noexcept;
  void add(std::string_view bytes) noexcept { add(std::as_bytes(std::span<const char>(bytes))); }
  std::string text() const;  // returns 16 hexadecimal digits for the bytes added so far

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325U, length_ = 0;
  std::uint64_t word_ = 0;  // the bytes after the last whole word
};
std::string checksum_of(std::string_view bytes);
// The checksum of a file, which is read in pieces. Throws Error as read_file().
struct FileChecksum {
  std::uint64_t bytes = 0;
  std::string checksum;
};
FileChecksum checksum_of_file(const std::string& path);

}  // namespace sextant

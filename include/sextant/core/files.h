// Whole files in, whole files out: nothing half-written is ever seen under the final name.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sextant {

// The bytes of a file. Throws Error that names the path and the reason (missing, a folder, no
// permission, larger than limit).
std::string read_file(const std::string& path, std::uint64_t limit = std::uint64_t{1} << 40);

// Writes to a temporary file beside `path`, flushes, then renames; on any failure the old file
// stays and the temporary one is removed. A symbolic link stays one and what it leads to is
// replaced; an existing file keeps its permissions. What cannot be replaced, such as a pipe or
// /dev/stdout, is written to directly. Throws Error that names the path and the reason.
void write_file(const std::string& path, std::string_view bytes);

// The same for one file in several parts, one after the other, so that a large one need not be put
// together first.
void write_file(const std::string& path, std::span<const std::string_view> parts);

// 16 hexadecimal digits that tell whether bytes are still the same: against damage and mistakes,
// not against an attacker.
std::string checksum_of(std::string_view bytes);

}  // namespace sextant

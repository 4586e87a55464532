// Whole files in, whole files out: nothing half-written is ever seen under the final name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sextant {

// The bytes of a file. Throws Error that names the path and the reason (missing, a folder, no
// permission, larger than limit).
std::string read_file(const std::string& path, std::uint64_t limit = std::uint64_t{1} << 40);

// Writes to a temporary file beside `path`, flushes, then renames; on any failure the old file
// stays and the temporary one is removed. Throws Error that names the path and the reason.
void write_file(const std::string& path, std::string_view bytes);

}  // namespace sextant

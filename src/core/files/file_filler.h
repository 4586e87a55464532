// Files that are too large to be put together in memory before they are written.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace sextant {

// Writes all of a file through its descriptor; returns 0 or the system's reason why it could not.
using FileFiller = std::function<int(int descriptor)>;

// Writes the data of `fill`, in any order, as write_file() does. If `fill` throws, the old file is
// unchanged. Throws Error for a device or a pipe as well.
void write_file_with(const std::string& path, const FileFiller& fill);

// Writes bytes at a place of a file. Returns 0 or the system's reason.
int write_at(int descriptor, std::uint64_t at, std::string_view bytes) noexcept;

}  // namespace sextant

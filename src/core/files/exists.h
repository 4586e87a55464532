// Whether a file is there.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

namespace sextant {

// A file or a folder; no where the path cannot be followed.
inline bool exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

}  // namespace sextant

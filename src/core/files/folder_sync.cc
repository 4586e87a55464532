// Folders are flushed like files, where the system allows it.
#include "core/files/folder_sync.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

namespace sextant {

std::string parent_folder(const std::string& path) {
  const auto parent = std::filesystem::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

int sync_names(const std::string& folder) noexcept {
  int descriptor = -1;
  do descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0) return errno == EACCES ? 0 : errno;
  const int problem = ::fsync(descriptor) != 0 && errno != EINVAL ? errno : 0;
  ::close(descriptor);
  return problem;
}

}  // namespace sextant

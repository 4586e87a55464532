// A name of this process first, NAME.partial-PID; then the final one.
#include "core/files/new_folder.h"

#include <unistd.h>

#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/files/temporary_file.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPartial = ".partial-";

// Removes incomplete folders for `folder` from a process that has ended, or from this one.
void remove_stale(const fs::path& folder) {
  const std::string start = folder.filename().string() + std::string(kPartial);
  const fs::path parent = folder.has_parent_path() ? folder.parent_path() : fs::path(".");
  std::vector<fs::path> found;
  std::error_code problem;
  fs::directory_iterator entry(parent, problem);
  for (; !problem && entry != fs::directory_iterator(); entry.increment(problem)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(start)) continue;
    const std::string process = name.substr(start.size());
    if (process == std::to_string(::getpid()) || is_ended_process(process)) {
      found.push_back(entry->path());
    }
  }
  for (const fs::path& left : found) fs::remove_all(left, problem);
}

}  // namespace

void make_new_folder(const std::string& path, const std::function<void(const std::string&)>& fill) {
  fs::path folder = fs::path(path).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();  // "runs/both/"
  std::error_code problem;
  if (fs::exists(folder, problem)) {
    throw Error(folder.string(), "must be a folder that does not exist yet");
  }
  remove_stale(folder);
  const std::string staging = folder.string() + std::string(kPartial) + std::to_string(::getpid());
  fs::create_directories(staging, problem);
  if (problem) throw Error(staging, "cannot be made: " + problem.message());
  try {
    fill(staging);
    fs::rename(staging, folder, problem);
    if (problem) throw Error(folder.string(), "cannot be made: " + problem.message());
  } catch (...) {
    fs::remove_all(staging, problem);
    throw;
  }
}

}  // namespace sextant

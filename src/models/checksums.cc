#include "models/checksums.h"

#include <filesystem>
#include <system_error>

#include "sextant/core/error.h"
#include "sextant/core/files.h"

namespace sextant {

namespace fs = std::filesystem;

Json checksums_of(const std::string& folder) {
  Json files = Json::object();
  std::error_code problem;
  fs::recursive_directory_iterator entry(folder, problem);
  for (; !problem && entry != fs::recursive_directory_iterator(); entry.increment(problem)) {
    if (entry->is_directory(problem)) continue;
    const std::string bytes = read_file(entry->path().string());
    files[entry->path().lexically_relative(folder).generic_string()] = {
        {"bytes", bytes.size()}, {"checksum", checksum_of(bytes)}};
  }
  if (problem) throw Error(folder, "cannot be read: " + problem.message());
  files.sort_keys();
  return files;
}

void write_checksums(const std::string& folder) {
  Json files = checksums_of(folder);
  files.erase("checksums.json");  // that of a model that was there before
  const Json json = {{"format", 1}, {"files", files}};
  write_file(folder + "/checksums.json", json.dump(2) + "\n");
}

void check_checksums(const std::string& folder) {
  std::error_code none;
  for (const char* name : {"/checksums.json", "/training.json"}) {
    const std::string path = folder + name;
    if (!fs::exists(path, none)) continue;
    const Json json = Json::parse_object(read_file(path, JsonLimits{}.bytes), path);
    try {
      for (const auto& [file, sum] : json.at("files").items()) {
        const std::string at = folder + "/" + file;
        if (file == "optimiser.safetensors" || !fs::exists(at, none)) continue;
        if (checksum_of(read_file(at)) != sum.at("checksum").text()) {
          throw Error(at, "is corrupt: checksum mismatch");
        }
      }
    } catch (const JsonError& error) {
      throw Error(path, error.problem());
    }
  }
}

}  // namespace sextant

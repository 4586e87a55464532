#include "models/checksums.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "sextant/core/error.h"
#include "sextant/core/files.h"

namespace sextant {

namespace fs = std::filesystem;

namespace {

// Calls use(file, checksum) for the checksums in the folder, with names relative to it.
template <class Use>
void each_sum(const std::string& folder, const Use& use) {
  std::error_code none;
  for (const char* name : {"/checksums.json", "/training.json"}) {
    const std::string path = folder + name;
    if (!fs::exists(path, none)) continue;
    const Json json = Json::parse_object(read_file(path, JsonLimits{}.bytes), path);
    try {
      for (const auto& [file, sum] : json.at("files").items()) {
        use(file, sum.at("checksum").text());
      }
    } catch (const JsonError& error) {
      throw Error(path, error.problem());
    }
  }
}

bool holds_tensors(const std::string& file) { return file.ends_with(".safetensors"); }

void compare(const std::string& path, const std::string& found, const std::string& sum) {
  if (found != sum) throw Error(path, "is corrupt: checksum mismatch");
}

void check_file(const std::string& path, const std::string& sum) {
  std::error_code none;
  if (fs::exists(path, none)) compare(path, checksum_of_file(path).checksum, sum);
}

}  // namespace

Json checksums_of(const std::string& folder) {
  Json files = Json::object();
  std::error_code problem;
  fs::recursive_directory_iterator entry(folder, problem);
  for (; !problem && entry != fs::recursive_directory_iterator(); entry.increment(problem)) {
    if (entry->is_directory(problem)) continue;
    const FileChecksum found = checksum_of_file(entry->path().string());
    files[entry->path().lexically_relative(folder).generic_string()] = {
        {"bytes", found.bytes}, {"checksum", found.checksum}};
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
  each_sum(folder, [&](const std::string& file, const std::string& sum) {
    if (!holds_tensors(file)) check_file(folder + "/" + file, sum);
  });
}

void check_weights(const std::string& folder) {
  each_sum(folder, [&](const std::string& file, const std::string& sum) {
    if (holds_tensors(file) && file != "optimiser.safetensors") {
      check_file(folder + "/" + file, sum);
    }
  });
}

void check_weights(const std::string& folder, const TensorFile& weights,
                   const FileChecksums& found) {
  each_sum(folder, [&](const std::string& file, const std::string& sum) {
    const std::string path = folder + "/" + file;
    const auto is_it = [wanted = fs::path(path).lexically_normal()](const fs::path& each) {
      return each.lexically_normal() == wanted;
    };
    const auto read = std::ranges::find_if(weights.files(), is_it);
    if (read == weights.files().end()) return;
    compare(path, found[static_cast<std::size_t>(read - weights.files().begin())], sum);
  });
}

}  // namespace sextant

// {"metadata": {...}, "weight_map": {"embedding.weight": "model-00001-of-00002.safetensors", ...}}
#include "core/arrays/tensor_index.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/json/json.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/core/printable.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;

bool is_inside(const fs::path& name) {
  return !name.empty() && name.is_relative() && name.native().find('\0') == std::string::npos &&
         std::ranges::none_of(name, [](const fs::path& part) { return part == ".."; });
}

// Whether a file is where a folder's links may lead: in it, or, for a snapshot in the cache of
// huggingface_hub (blobs, refs, snapshots/<revision>), among that model's blobs.
bool is_of_folder(const fs::path& file, const fs::path& folder) {
  const auto is_below = [&](const fs::path& place) {
    return is_inside(file.lexically_relative(place));
  };
  const fs::path snapshots = folder.parent_path();
  return is_below(folder) ||
         (snapshots.filename() == "snapshots" && is_below(snapshots.parent_path() / "blobs"));
}

// The path of a file that an index says; its target too has to be of the folder.
std::string path_of(const fs::path& folder, const std::string& name, const std::string& tensor,
                    const std::string& index) {
  const auto fail = [&](const std::string& what) {
    throw Error(index, what + " for tensor " + printable_quote(tensor));
  };
  const auto outside = [&] {
    fail("must name files in its own folder, got " + printable_quote(name));
  };
  if (!is_inside(name)) outside();
  std::error_code problem;
  const fs::path file = folder / fs::path(name).lexically_normal();
  const fs::path target = fs::canonical(file, problem);
  if (problem) {
    fail("must name existing files, got " + printable_quote(name) + " (" + problem.message() + ")");
  }
  if (!is_of_folder(target, fs::canonical(folder))) outside();
  return file.string();
}

}  // namespace

TensorIndex read_tensor_index(const std::string& path) {
  const JsonLimits limits{.bytes = std::size_t{1} << 26};  // of 140,000 tensors: 13 MB
  const Json json = Json::parse_object(read_file(path, limits.bytes), path, limits);
  const fs::path own = fs::path(path).parent_path();
  const fs::path folder = own.empty() ? fs::path(".") : own;
  TensorIndex index;
  std::map<std::string, std::string> paths;  // by the name in the index
  try {
    for (const auto& [tensor, file] : json.at("weight_map").items()) {
      if (!file.is_string()) {
        throw Error(path, "must have a file's name for tensor " + printable_quote(tensor) +
                              ", got " + file.type_name());
      }
      std::string& found = paths[file.text()];
      if (found.empty()) found = path_of(folder, file.text(), tensor, path);
      index.file_of.emplace(tensor, found);
    }
  } catch (const JsonError& error) {
    throw Error(path, error.problem());
  }
  return index;
}

}  // namespace sextant

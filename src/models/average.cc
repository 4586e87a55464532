// The mean of models' weights.
#include "sextant/models/average.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/files/temporary_file.h"
#include "models/checksums.h"
#include "sextant/core/error.h"
#include "sextant/models/text_model.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;

// Adds a model's numbers of `name` from `first` on to the sums.
void add_to(std::span<double> sums, const TensorFile& file, const std::string& name,
            std::int64_t first, std::vector<float>& values) {
  values.resize(sums.size());
  const StoredTensor& tensor = file.at(name);
  file.read(tensor, first, std::span(values));
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (!std::isfinite(values[i])) {
      throw Error(file.files()[tensor.file], "must hold finite numbers, got others in " + name);
    }
    sums[i] += static_cast<double>(values[i]);
  }
}

// In parts, so that it takes the memory of one model.
template <class Model>
void save_mean(std::span<const ModelFolder> models, const std::string& folder) {
  Model mean = Model::load(models.front());
  const Parameters<float> parameters = mean.parameters();
  std::vector<TensorFile> files;
  for (const ModelFolder& model : models) {
    check_weights(model.path);
    files.push_back(model.open_weights());
    check_parameters(files.back(), parameters);
  }
  constexpr std::int64_t kPart = 1 << 16;
  const auto count = static_cast<double>(models.size());
  std::vector<double> sums;
  std::vector<float> values;
  for (const auto& [name, tensor, decays] : parameters) {
    for (std::int64_t first = 0; first < tensor->count(); first += kPart) {
      sums.assign(static_cast<std::size_t>(std::min(kPart, tensor->count() - first)), 0);
      for (const TensorFile& file : files) add_to(sums, file, name, first, values);
      for (std::size_t i = 0; i < sums.size(); ++i) {
        tensor->data()[first + static_cast<std::int64_t>(i)] = static_cast<float>(sums[i] / count);
      }
    }
  }
  mean.save(folder);
  write_checksums(folder);
}

constexpr std::string_view kPartial = ".partial-";

// Removes what was begun for `folder` and killed: "NAME.partial-PID" of a process that has ended,
// or of this one.
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

// Throws as save_average().
void check_compatible(std::span<const ModelFolder> models) {
  if (models.size() < 2) {
    throw Error("average.models", "must be two or more, got " + std::to_string(models.size()));
  }
  const ModelFolder& first = models.front();
  for (const ModelFolder& model : models) {
    if (format_config(model.config) != format_config(first.config)) {
      throw Error(model.path, "must have the config of " + first.path + ", got another one");
    }
    if (model.tokenizer != first.tokenizer) {
      throw Error(model.path, "must have the tokenizer of " + first.path + ", got another one");
    }
  }
}

}  // namespace

void save_average(std::span<const ModelFolder> models, const std::string& path) {
  fs::path folder = fs::path(path).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();  // "runs/both/"
  std::error_code problem;
  if (fs::exists(folder, problem)) {
    throw Error(folder.string(), "must be a folder that does not exist yet");
  }
  // Beside it first, under a name of this process: a folder of its own name is a whole model.
  remove_stale(folder);
  check_compatible(models);
  const std::string staging = folder.string() + std::string(kPartial) + std::to_string(::getpid());
  fs::create_directories(staging, problem);
  if (problem) throw Error(staging, "cannot be made: " + problem.message());
  try {
    if (models.front().config.kind == ModelKind::translator) {
      save_mean<TextTranslator>(models, staging);
    } else {
      save_mean<TextModel>(models, staging);
    }
    fs::rename(staging, folder, problem);
    if (problem) throw Error(folder.string(), "cannot be made: " + problem.message());
  } catch (...) {
    fs::remove_all(staging, problem);
    throw;
  }
}

}  // namespace sextant

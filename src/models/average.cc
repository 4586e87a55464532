// The mean of models' weights.
#include "sextant/models/average.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "core/files/new_folder.h"
#include "models/checksums.h"
#include "sextant/core/error.h"
#include "sextant/models/text_model.h"

namespace sextant {
namespace {

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
  check_compatible(models);
  make_new_folder(path, [models](const std::string& folder) {
    if (models.front().config.kind == ModelKind::translator) {
      save_mean<TextTranslator>(models, folder);
    } else {
      save_mean<TextModel>(models, folder);
    }
  });
}

}  // namespace sextant

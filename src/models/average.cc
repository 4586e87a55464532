// The mean of models' weights.
#include "sextant/models/average.h"

#include <cstddef>
#include <vector>

#include "models/checksums.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

template <class Model>
void save_mean(std::span<const ModelFolder> models, Model (*load)(const ModelFolder&),
               const std::string& folder) {
  Model mean = load(models.front());
  const Parameters<float> parameters = mean.parameters();
  std::vector<std::vector<double>> sums;
  for (const Parameter<float>& each : parameters) {
    sums.emplace_back(static_cast<std::size_t>(each.tensor->count()));
  }
  for (const ModelFolder& from : models) {
    Model model = load(from);
    const Parameters<float> added = model.parameters();
    for (std::size_t p = 0; p < sums.size(); ++p) {
      const float* values = added[p].tensor->data();
      for (std::size_t i = 0; i < sums[p].size(); ++i) sums[p][i] += static_cast<double>(values[i]);
    }
  }
  const auto count = static_cast<double>(models.size());
  for (std::size_t p = 0; p < sums.size(); ++p) {
    float* values = parameters[p].tensor->data();
    for (std::size_t i = 0; i < sums[p].size(); ++i) {
      values[i] = static_cast<float>(sums[p][i] / count);
    }
  }
  save_model_folder(folder, models.front().config, models.front().tokenizer, parameters);
  write_checksums(folder);
}

}  // namespace

void save_average(std::span<const ModelFolder> models, const std::string& folder) {
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
  if (first.config.kind == ModelKind::translator) return save_mean(models, load_translator, folder);
  save_mean(models, load_language_model, folder);
}

}  // namespace sextant

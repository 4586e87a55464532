// The vectors of a model's words.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "models/checksums.h"
#include "sextant/core/error.h"
#include "sextant/models/text_model.h"

namespace sextant {
namespace {

// Returns [vocabulary, width]; reads only this tensor if it is under its own name in a file.
Tensor<float> embedding_of(const ModelFolder& folder) {
  if (folder.read_weights) return TextModel::load(folder).embedding.table().clone();
  if (folder.weights.empty()) check_weights(folder.path);
  const TensorFile file = folder.open_weights();
  const StoredTensor* found = file.find("embedding.weight");
  const Shape shape{folder.config.vocabulary, folder.config.width};
  if (found == nullptr || found->shape != shape) {
    throw Error(file.path(), "must hold embedding.weight of shape " + shape.to_string());
  }
  auto table = Tensor<float>::uninitialized(shape);
  file.read(*found, 0, table.span());
  return table;
}

}  // namespace

WordVectors learned_word_vectors(const ModelFolder& folder) {
  const Tensor<float> table = embedding_of(folder);
  const std::int64_t width = table.size(1);
  std::vector<std::string> words;
  std::vector<std::int64_t> rows;
  for (std::int64_t id = 0; id < folder.tokenizer.size(); ++id) {
    std::optional<std::string> word = folder.tokenizer.whole_word(id);
    if (!word) continue;
    words.push_back(std::move(*word));
    rows.push_back(id);
  }
  if (words.empty()) throw Error(folder.path, "must have tokens that are whole words");
  Tensor<float> vectors({static_cast<std::int64_t>(rows.size()), width});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::copy_n(table.data() + rows[i] * width, width,
                vectors.data() + static_cast<std::int64_t>(i) * width);
  }
  return WordVectors(std::move(words), std::move(vectors));
}

}  // namespace sextant

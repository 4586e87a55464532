// The small seeded model over words, opened: all that goes into the attention operator.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/attention/attention.h"
#include "sextant/core/tensor.h"
#include "sextant/layers/applied_positions.h"
#include "sextant/lessons/heads.h"
#include "sextant/lessons/sentence_attention.h"

namespace sextant::lessons {

// A sentence on its way into the model, [length, width].
struct SentenceRows {
  std::vector<std::string> tokens;
  Tensor<double> embeddings;  // of the words alone
  Tensor<double> inputs;      // after the addition of positions
  AppliedPositions<double> positions;
};

// An object must not move, because the options borrow from it.
class SentenceModel {
 public:
  // Throws Error as attend_sentences().
  SentenceModel(const std::vector<std::string>& first, const std::vector<std::string>& second,
                const SentenceAttentionOptions& options);
  SentenceModel(const SentenceModel&) = delete;
  SentenceModel& operator=(const SentenceModel&) = delete;

  MultiHead<double> model;
  SentenceRows queries, keys;
  Tensor<double> q, k, v;               // as projected, [length, width]
  Tensor<double> rotated_q, rotated_k;  // the inputs of the operator
  AttentionOptions<double> options;

  std::int64_t heads() const noexcept { return model.heads; }
  std::int64_t head_dim() const noexcept { return q.size(1) / model.heads; }
  // Returns the positions of the longer sentence, since terms by distance or by place must reach as
  // far.
  const AppliedPositions<double>& longer() const noexcept {
    return queries.inputs.size(0) < keys.inputs.size(0) ? keys.positions : queries.positions;
  }
  // The factor of <q, k>.
  double scale() const noexcept { return scale_; }

  // The operator's results: [heads, queries, keys], and [queries, width] before the projection of
  // the output.
  Tensor<double> maps(Stage stage) const;
  Tensor<double> mixed() const;

 private:
  void set_options(const SentenceAttentionOptions& asked);

  double scale_ = 1;
  std::vector<double> sinks_;
  Tensor<bool> mask_;
};

}  // namespace sextant::lessons

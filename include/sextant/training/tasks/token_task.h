// Defines the options that tasks of texts and of pairs share, and their common code.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "sextant/models/text_model.h"
#include "sextant/training/task.h"
#include "sextant/training/tasks/epochs.h"

namespace sextant {

struct TaskOptions {
  std::int64_t length = 128;     // tokens of a sequence; longer sides of pairs are cut
  std::int64_t batch_size = 32;  // sequences or pairs per step
  // Micro-batches per step: less memory, the same sums; at most batch_size.
  std::int64_t accumulation_steps = 1;
  bool document_mask = false;  // for texts: tokens see only tokens of their own document
  double label_smoothing = 0;
  double mask_probability = 0.15;  // for masked models: the share of the tokens to predict
  // For pairs: the share of the sub-words that are split, in the same way on both sides.
  double subword_dropout = 0;
  std::uint64_t seed = 0;  // seed of the order
};

// Trains a LanguageModel on TokenBatches, or a Translator on PairBatches.
template <template <class> class Model, class Batch>
class TokenTask : public TrainingTask {
 public:
  WithTokenizer<Model<float>>& model() noexcept { return model_; }  // after the last step

  Parameters<float> parameters() override { return model_.parameters(); }
  Parameters<float> gradients() override { return gradient_.parameters(); }
  std::int64_t batches(std::int64_t /*step*/) const override {
    return std::min(options_.accumulation_steps, options_.batch_size);
  }
  LossSum accumulate(std::int64_t step, std::int64_t batch, double scale, Pass& pass) override {
    return model_.loss(training_batch(step, batch),
                       {.label_smoothing = options_.label_smoothing, .scale = scale}, &gradient_,
                       pass);
  }
  std::int64_t validation_batches() const override {
    return (held_out_count() + options_.batch_size - 1) / options_.batch_size;
  }
  LossSum validate(std::int64_t batch, Pass& pass) override {
    const std::int64_t first = batch * options_.batch_size;
    const std::int64_t count = std::min(options_.batch_size, held_out_count() - first);
    return model_.loss(held_out_batch(first, count), {}, nullptr, pass);
  }
  void save_model(const std::string& folder) override { model_.save(folder); }

  // Makes one of the batches(step) micro-batches.
  virtual Batch training_batch(std::int64_t step, std::int64_t batch) = 0;

 protected:
  TokenTask(WithTokenizer<Model<float>> model, const TaskOptions& options)
      : options_(options), model_(std::move(model)), gradient_(zeros_like<Model<float>>(model_)) {}

  // Returns the number of held-out sequences or pairs, and `count` of them from `first` on.
  virtual std::int64_t held_out_count() const noexcept = 0;
  virtual Batch held_out_batch(std::int64_t first, std::int64_t count) const = 0;

  TaskOptions options_;
  WithTokenizer<Model<float>> model_;
  Model<float> gradient_;
};

}  // namespace sextant

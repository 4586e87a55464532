// Reports the results of a training.
#pragma once

#include <optional>

#include "sextant/training/evaluate.h"
#include "sextant/training/tasks/make_task.h"
#include "streams/console.h"

namespace sextant::app {

struct TrainReport {
  std::string folder;
  std::string kind;
  TransformerConfig model;
  TokenizerKind tokenizer;
  std::string data;
  std::int64_t parameters = 0;
  TrainingResult result;
  std::optional<double> training_loss, validation_loss;  // the last of each
  std::optional<ExactMatch> exact;
  std::string picture;

  std::optional<double> perplexity() const;          // of the held-out data, per token
  std::optional<double> bits_per_character() const;  // where tokens are characters
};

// Returns lines for a person, with next steps; the other returns all of it as JSON.
std::string text_of(const TrainReport& report);
Json report_as_json(const TrainReport& report);

}  // namespace sextant::app

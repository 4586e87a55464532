// Defines the interface of a training task: parameters, gradients, batches and a loss.
#pragma once

#include <cstdint>
#include <string>

#include "sextant/layers/parameters.h"
#include "sextant/layers/pass.h"
#include "sextant/layers/token_loss.h"

namespace sextant {

// A model, its data, and how batches are drawn. Everything is a function of the seed and the step's
// number: a task has no state except the parameters.
class TrainingTask {
 public:
  virtual ~TrainingTask() = default;

  virtual Parameters<float> parameters() = 0;
  virtual Parameters<float> gradients() = 0;  // the same names and shapes

  // Returns the number of targets in the batches of step `step` (from 0), and the number of
  // batches.
  virtual std::int64_t target_tokens(std::int64_t step) = 0;
  virtual std::int64_t batches(std::int64_t step) const = 0;
  // Adds to gradients() those of `scale` times the summed smoothed loss of one batch of a step.
  virtual LossSum accumulate(std::int64_t step, std::int64_t batch, double scale, Pass& pass) = 0;
  // Returns the number of batches of held-out data, and the loss over one, without gradients and
  // dropout.
  virtual std::int64_t validation_batches() const = 0;
  virtual LossSum validate(std::int64_t batch, Pass& pass) = 0;
  // Writes the current model into an existing folder: model.safetensors, which is save_parameters()
  // of parameters() (a run is resumed from it), and all other files needed to use the model. It
  // must not use the names optimiser.safetensors and training.json.
  virtual void save_model(const std::string& folder) = 0;
};

}  // namespace sextant

// The interface of a training task: parameters, gradients, batches and a loss.
#pragma once

#include <cstdint>
#include <string>

#include "sextant/layers/parameters.h"
#include "sextant/layers/pass.h"
#include "sextant/layers/token_loss.h"

namespace sextant {

// A model, its data, and how batches are drawn. Everything is a function of the seed and the step's
// number: a task has no state but the parameters.
class TrainingTask {
 public:
  virtual ~TrainingTask() = default;

  virtual Parameters<float> parameters() = 0;
  virtual Parameters<float> gradients() = 0;  // the same names and shapes

  // How many targets the batches of step `step` (from 0) hold, and how many batches there are.
  virtual std::int64_t target_tokens(std::int64_t step) = 0;
  virtual std::int64_t batches(std::int64_t step) const = 0;
  // Adds to gradients() those of `scale` times the summed smoothed loss of one batch of a step.
  virtual LossSum accumulate(std::int64_t step, std::int64_t batch, double scale, Pass& pass) = 0;
  // How many batches of held-out data there are, and the loss over one; no gradients, no dropout.
  virtual std::int64_t validation_batches() const = 0;
  virtual LossSum validate(std::int64_t batch, Pass& pass) = 0;
  // Writes the model as it is into a folder that exists: model.safetensors, which is
  // save_parameters() of parameters() (a run is resumed from it), and whatever else is needed to
  // use the model. Not the names optimiser.safetensors and training.json.
  virtual void save_model(const std::string& folder) = 0;
};

}  // namespace sextant

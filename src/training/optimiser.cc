// AdamW over lists of tensors; the kernels do the arithmetic.
#include "sextant/training/optimiser.h"

#include <cmath>
#include <string>

#include "kernels/layers/rows.h"
#include "sextant/core/error.h"
#include "training/training_fields.h"

namespace sextant {
AdamW::AdamW(const Parameters<float>& parameters, const AdamWOptions& options) : options_(options) {
  check_fields("adamw", options);
  for (const auto& [name, tensor, decays] : parameters) {
    slots_.push_back({name, Tensor<float>(tensor->shape()), Tensor<float>(tensor->shape())});
  }
}

void AdamW::check(const char* what, const Parameters<float>& list) const {
  const std::string where = std::string("adamw.") + what;
  if (list.size() != slots_.size()) {
    throw Error(where, "must be the " + std::to_string(slots_.size()) +
                           " tensors it was made for, got " + std::to_string(list.size()));
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Slot& slot = slots_[i];
    const Tensor<float>& tensor = *list[i].tensor;
    if (list[i].name != slot.name || tensor.shape() != slot.m.shape()) {
      throw Error(where, "must have " + slot.name + " " + slot.m.shape().to_string() +
                             " at place " + std::to_string(i) + ", got " + list[i].name + " " +
                             tensor.shape().to_string());
    }
  }
}

double AdamW::step(const Parameters<float>& parameters, const Parameters<float>& gradients,
                   double learning_rate, int threads) {
  check("parameters", parameters);
  check("gradients", gradients);
  check_range(kNotNegative, "adamw.learning_rate", learning_rate);
  double squares = 0;
  for (const auto& [name, tensor, decays] : gradients) {
    squares += kernels::sum_of_squares(tensor->data(), tensor->count(), threads);
  }
  const double norm = std::sqrt(squares);
  if (!std::isfinite(norm)) return norm;

  kernels::AdamWStep step{.step = steps_ + 1,
                          .rate = learning_rate,
                          .beta1 = options_.beta1,
                          .beta2 = options_.beta2,
                          .eps = options_.epsilon,
                          .decay = 0,
                          .factor = options_.clip_norm > 0 && norm > options_.clip_norm
                                        ? options_.clip_norm / norm
                                        : 1};
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    step.decay = parameters[i].decays ? options_.weight_decay : 0;
    Tensor<float>& tensor = *parameters[i].tensor;
    kernels::adamw(step, gradients[i].tensor->data(), tensor.count(), tensor.data(),
                   slots_[i].m.data(), slots_[i].v.data(), threads);
  }
  ++steps_;
  return norm;
}

void AdamW::set_steps(std::int64_t steps) {
  if (steps < 0) throw Error("adamw.steps", "must be at least 0, got " + std::to_string(steps));
  steps_ = steps;
}

Parameters<float> AdamW::state() {
  Parameters<float> list;
  for (Slot& slot : slots_) list.push_back({"m." + slot.name, &slot.m, false});
  for (Slot& slot : slots_) list.push_back({"v." + slot.name, &slot.v, false});
  return list;
}

}  // namespace sextant

// AdamW over lists of tensors; the kernels do the arithmetic.
#include "sextant/training/adamw.h"

#include "kernels/layers/rows.h"

namespace sextant {

AdamW::AdamW(const Parameters<float>& parameters, const OptimiserOptions& options)
    : Optimiser(OptimiserMethod::adamw, parameters, options) {
  for (const auto& [name, tensor, decays] : parameters) {
    slots_.push_back({name, Tensor<float>(tensor->shape()), Tensor<float>(tensor->shape())});
  }
}

void AdamW::update(const Parameters<float>& parameters, const Parameters<float>& gradients,
                   const Step& step) {
  kernels::AdamWStep one{.step = step.number,
                         .rate = step.rate,
                         .beta1 = options().beta1,
                         .beta2 = options().beta2,
                         .eps = options().epsilon,
                         .decay = 0,
                         .factor = step.factor};
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    one.decay = decay_of(parameters[i]);
    Tensor<float>& tensor = *parameters[i].tensor;
    kernels::adamw(one, gradients[i].tensor->data(), tensor.count(), tensor.data(),
                   slots_[i].m.data(), slots_[i].v.data(), step.threads);
  }
}

Parameters<float> AdamW::state() {
  Parameters<float> list;
  for (Slot& slot : slots_) list.push_back({"m." + slot.name, &slot.m, false});
  for (Slot& slot : slots_) list.push_back({"v." + slot.name, &slot.v, false});
  return list;
}

}  // namespace sextant

// A moving average of the weights: one pass over them after each step.
#include "sextant/training/averaging_optimiser.h"

#include <algorithm>
#include <utility>

#include "kernels/simd/processor_state.h"
#include "kernels/simd/row_blocks.h"
#include "sextant/core/error.h"
#include "training/training_fields.h"

namespace sextant {
namespace {

// Moves the average by a share of its distance to the weights, so that it stays where it is equal
// to them. With decay * average + (1 - decay) * weights the rounded factors may not add up to 1.
void move_average(const Tensor<float>& weights, Tensor<float>& average, float share, int threads) {
  const float* w = weights.data();
  float* a = average.data();
  kernels::for_blocks(weights.count(), kernels::kElementBlock, threads,
                      [=](std::int64_t, std::int64_t first, std::int64_t count) {
                        const kernels::DenormalsOff denormals_off;
                        for (std::int64_t i = first; i < first + count; ++i) {
                          a[i] += share * (w[i] - a[i]);
                        }
                      });
}

}  // namespace

AveragingOptimiser::AveragingOptimiser(std::unique_ptr<Optimiser> optimiser,
                                       const Parameters<float>& parameters, double decay)
    : Optimiser(optimiser->options().method, parameters, optimiser->options()),
      optimiser_(std::move(optimiser)),
      decay_(decay) {
  check_range(kShare, "averaging_optimiser.decay", decay);
  set_steps(optimiser_->steps());
  for (const auto& [name, tensor, decays] : parameters) slots_.push_back({name, tensor->clone()});
}

void AveragingOptimiser::exchange(const Parameters<float>& parameters) {
  check("parameters", parameters);
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Tensor<float>& tensor = *parameters[i].tensor;
    std::swap_ranges(tensor.data(), tensor.data() + tensor.count(), slots_[i].other.data());
  }
  uses_average_ = !uses_average_;
}

void AveragingOptimiser::use_average(const Parameters<float>& parameters) {
  if (!uses_average_) exchange(parameters);
}

void AveragingOptimiser::use_weights(const Parameters<float>& parameters) {
  if (uses_average_) exchange(parameters);
}

Parameters<float> AveragingOptimiser::state() {
  Parameters<float> list = optimiser_->state();
  const std::string prefix = uses_average_ ? "weights." : "average.";
  for (Slot& slot : slots_) list.push_back({prefix + slot.name, &slot.other, false});
  return list;
}

void AveragingOptimiser::update(const Parameters<float>& parameters,
                                const Parameters<float>& gradients, const Step& step) {
  if (uses_average_) {
    throw Error("averaging_optimiser.parameters", "must be the weights in a step, got the average");
  }
  optimiser_->update(parameters, gradients, step);
  const auto number = static_cast<double>(step.number);
  const double kept = std::min(decay_, (number - 1) / (number + 8));
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Tensor<float>& weights = *parameters[i].tensor;
    Tensor<float>& average = slots_[i].other;
    if (kept > 0) {
      move_average(weights, average, static_cast<float>(1 - kept), step.threads);
    } else {
      std::ranges::copy(weights.span(), average.data());
    }
  }
}

}  // namespace sextant

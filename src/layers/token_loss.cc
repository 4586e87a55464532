// Cross entropy over a vocabulary, some rows at a time.
#include "layers/token_loss.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "layers/ops.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"

namespace sextant {
namespace layers {

void check_token_loss(const Shape& h, const Shape& weight, std::span<const std::int64_t> targets,
                      const TokenLossOptions& options) {
  if (h.rank() != 2 || weight.rank() != 2 || h[1] != weight[1]) {
    throw Error("token_loss.weight", "must be [vocabulary, width] for h = " + h.to_string() +
                                         ", got " + weight.to_string());
  }
  if (static_cast<std::int64_t>(targets.size()) != h[0]) {
    throw Error("token_loss.targets", "must be one per row, " + std::to_string(h[0]) + ", got " +
                                          std::to_string(targets.size()));
  }
  for (const std::int64_t target : targets) {
    if (target >= weight[0]) {
      throw Error("token_loss.targets", "must be below vocabulary = " + std::to_string(weight[0]) +
                                            ", got " + std::to_string(target));
    }
  }
  if (!(options.label_smoothing >= 0 && options.label_smoothing < 1)) {
    throw Error("token_loss.label_smoothing",
                "must be in 0 <= label_smoothing < 1, got " + shortest(options.label_smoothing));
  }
}

std::int64_t logit_rows(std::int64_t vocabulary) noexcept {
  constexpr std::int64_t kLogits = std::int64_t{1} << 23;
  return std::clamp<std::int64_t>(kLogits / std::max<std::int64_t>(vocabulary, 1) / 16 * 16, 64,
                                  2048);
}

}  // namespace layers

template <class T>
LossSum token_loss(View<const T> h, View<const T> weight, std::span<const std::int64_t> targets,
                   const TokenLossOptions& options, View<T> dh, View<T> dweight, Pass& pass) {
  layers::check_token_loss(h.shape(), weight.shape(), targets, options);
  const std::int64_t rows = h.size(0), vocabulary = weight.size(0);
  const std::int64_t block = std::min(rows, layers::logit_rows(vocabulary));
  const bool want_gradient = dh.count() > 0;
  const Workspace::Scope scope(pass.memory);
  const View<T> logits = pass.memory.take<T>({block, vocabulary});
  LossSum sum;
  for (std::int64_t first = 0; first < rows; first += block) {
    const std::int64_t count = std::min(block, rows - first);
    const View<const T> x = h.narrow(0, first, count);
    const View<T> part = logits.narrow(0, 0, count);
    ops::linear<T>(x, weight, nullptr, part, pass.threads);
    sum.add(ops::cross_entropy<T>(part, targets.data() + first, options.label_smoothing,
                                  options.scale, want_gradient, pass.threads));
    if (!want_gradient) continue;
    ops::linear_input_gradient<T>(View<const T>(part), weight, dh.narrow(0, first, count), false,
                                  pass.threads);
    ops::linear_weight_gradient<T>(x, View<const T>(part), dweight, nullptr, pass.threads);
  }
  return sum;
}

template <class T>
Tensor<double> token_log_likelihoods(View<const T> h, View<const T> weight,
                                     std::span<const std::int64_t> targets, Pass& pass) {
  layers::check_token_loss(h.shape(), weight.shape(), targets, {});
  const std::int64_t rows = h.size(0), vocabulary = weight.size(0);
  const std::int64_t block = std::min(rows, layers::logit_rows(vocabulary));
  const Workspace::Scope scope(pass.memory);
  const View<T> logits = pass.memory.take<T>({block, vocabulary});
  Tensor<double> result({rows});
  for (std::int64_t first = 0; first < rows; first += block) {
    const std::int64_t count = std::min(block, rows - first);
    const View<T> part = logits.narrow(0, 0, count);
    ops::linear<T>(h.narrow(0, first, count), weight, nullptr, part, pass.threads);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t target = targets[static_cast<std::size_t>(first + i)];
      if (target < 0) continue;
      result(first + i) =
          -ops::cross_entropy<T>(part.narrow(0, i, 1), &target, 0, 1, false, 1).loss;
    }
  }
  return result;
}

#define SEXTANT_TOKEN_LOSS(T)                                                              \
  template LossSum token_loss(View<const T>, View<const T>, std::span<const std::int64_t>, \
                              const TokenLossOptions&, View<T>, View<T>, Pass&);           \
  template Tensor<double> token_log_likelihoods(View<const T>, View<const T>,              \
                                                std::span<const std::int64_t>, Pass&);
SEXTANT_TOKEN_LOSS(float)
SEXTANT_TOKEN_LOSS(double)
#undef SEXTANT_TOKEN_LOSS

}  // namespace sextant

// Cross entropy over a vocabulary, some rows at a time.
#include "layers/token_loss.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "layers/ops.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/core/parallel.h"

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

namespace {

// y = f(x) of all elements, some at a time in each thread.
template <class T, class F>
void each_element(View<T> x, int threads, const F& f) {
  constexpr std::int64_t kAtOnce = 4096;
  parallel_for((x.count() + kAtOnce - 1) / kAtOnce, threads, [&](std::int64_t i) {
    const std::int64_t end = std::min(x.count(), (i + 1) * kAtOnce);
    for (std::int64_t at = i * kAtOnce; at < end; ++at) f(at);
  });
}

// d: the gradient of the logits, becomes that of h weight^T + bias. `logits` are of a softcap.
template <class T>
void logits_backward(View<const T> logits, const LogitOptions<T>& options, View<T> d, int threads) {
  if (options.scale == 1 && options.softcap == 0) return;
  each_element(d, threads, [&](std::int64_t i) {
    double slope = options.scale;
    if (options.softcap > 0) {
      const double part = static_cast<double>(logits.data()[i]) / options.softcap;
      slope *= 1 - part * part;
    }
    d.data()[i] = static_cast<T>(static_cast<double>(d.data()[i]) * slope);
  });
}

}  // namespace

template <class T>
void make_logits(View<const T> h, const WeightView<T>& weight, const LogitOptions<T>& options,
                 View<T> logits, const Pass& pass) {
  ops::linear<T>(h, weight, options.bias, logits, pass.threads);
  if (options.scale == 1 && options.softcap == 0) return;
  each_element(logits, pass.threads, [&](std::int64_t i) {
    const double scaled = static_cast<double>(logits.data()[i]) * options.scale;
    const double cap = options.softcap;
    logits.data()[i] = static_cast<T>(cap > 0 ? cap * std::tanh(scaled / cap) : scaled);
  });
}

template <class T>
LossSum token_loss(View<const T> h, const WeightView<T>& weight,
                   std::span<const std::int64_t> targets, const TokenLossOptions& options,
                   View<T> dh, View<T> dweight, Pass& pass, const LogitOptions<T>& of_logits,
                   T* dbias) {
  layers::check_token_loss(h.shape(), weight.shape(), targets, options);
  const std::int64_t rows = h.size(0), vocabulary = weight.size(0);
  const std::int64_t block = std::min(rows, layers::logit_rows(vocabulary));
  const bool want_gradient = dh.count() > 0;
  const Workspace::Scope scope(pass.memory);
  const View<T> logits = pass.memory.take<T>({block, vocabulary});
  const bool capped = want_gradient && of_logits.softcap > 0;
  const View<T> kept = pass.memory.take<T>({capped ? block : 0, vocabulary});
  LossSum sum;
  for (std::int64_t first = 0; first < rows; first += block) {
    const std::int64_t count = std::min(block, rows - first);
    const View<const T> x = h.narrow(0, first, count);
    const View<T> part = logits.narrow(0, 0, count);
    make_logits<T>(x, weight, of_logits, part, pass);
    if (capped) std::copy_n(part.data(), part.count(), kept.data());
    sum.add(ops::cross_entropy<T>(part, targets.data() + first, options.label_smoothing,
                                  options.scale, want_gradient, pass.threads));
    if (!want_gradient) continue;
    logits_backward<T>(kept, of_logits, part, pass.threads);
    ops::linear_input_gradient<T>(View<const T>(part), weight.wide(), dh.narrow(0, first, count),
                                  false, pass.threads);
    ops::linear_weight_gradient<T>(x, View<const T>(part), dweight, dbias, pass.threads);
  }
  return sum;
}

template <class T>
Tensor<double> token_log_likelihoods(View<const T> h, const WeightView<T>& weight,
                                     std::span<const std::int64_t> targets, Pass& pass,
                                     const LogitOptions<T>& of_logits) {
  layers::check_token_loss(h.shape(), weight.shape(), targets, {});
  const std::int64_t rows = h.size(0), vocabulary = weight.size(0);
  const std::int64_t block = std::min(rows, layers::logit_rows(vocabulary));
  const Workspace::Scope scope(pass.memory);
  const View<T> logits = pass.memory.take<T>({block, vocabulary});
  Tensor<double> result({rows});
  for (std::int64_t first = 0; first < rows; first += block) {
    const std::int64_t count = std::min(block, rows - first);
    const View<T> part = logits.narrow(0, 0, count);
    make_logits<T>(h.narrow(0, first, count), weight, of_logits, part, pass);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t target = targets[static_cast<std::size_t>(first + i)];
      if (target < 0) continue;
      result(first + i) =
          -ops::cross_entropy<T>(part.narrow(0, i, 1), &target, 0, 1, false, 1).loss;
    }
  }
  return result;
}

#define SEXTANT_TOKEN_LOSS(T)                                                                     \
  template void make_logits(View<const T>, const WeightView<T>&, const LogitOptions<T>&, View<T>, \
                            const Pass&);                                                         \
  template LossSum token_loss(View<const T>, const WeightView<T>&, std::span<const std::int64_t>, \
                              const TokenLossOptions&, View<T>, View<T>, Pass&,                   \
                              const LogitOptions<T>&, T*);                                        \
  template Tensor<double> token_log_likelihoods(View<const T>, const WeightView<T>&,              \
                                                std::span<const std::int64_t>, Pass&,             \
                                                const LogitOptions<T>&);
SEXTANT_TOKEN_LOSS(float)
SEXTANT_TOKEN_LOSS(double)
#undef SEXTANT_TOKEN_LOSS

}  // namespace sextant

// Computes the last layer of a model of tokens and its loss: logits, softmax, cross entropy.
#pragma once

#include <cstdint>
#include <span>

#include "sextant/core/tensor.h"
#include "sextant/layers/pass.h"
#include "sextant/layers/weight_matrix.h"

namespace sextant {

// A loss summed over tokens.
struct LossSum {
  double loss = 0;  // sum of the tokens' negative log likelihoods, in nats
  // The minimised loss, which label smoothing changes; otherwise equal to loss.
  double smoothed = 0;
  std::int64_t tokens = 0;   // number of targets in the sum
  std::int64_t correct = 0;  // number of targets that were the most probable token

  void add(const LossSum& other) noexcept {
    loss += other.loss;
    smoothed += other.smoothed;
    tokens += other.tokens;
    correct += other.correct;
  }
};

struct TokenLossOptions {
  // Label smoothing (Szegedy et al. 2016, 1512.00567), 0 <= label_smoothing < 1: (1 -
  // label_smoothing) on the target, label_smoothing / vocabulary on every token.
  double label_smoothing = 0;
  double scale = 1;  // factor of the gradients: 1 / tokens for those of the mean
};

// Says how logits come from h weight^T: logits = cap(scale (h weight^T + bias)).
template <class T>
struct LogitOptions {
  const T* bias = nullptr;  // [vocabulary]; null: none
  double scale = 1;
  double softcap = 0;  // > 0: softcap tanh(logit / softcap); 0: off
};

// Computes logits [rows, vocabulary] of h [rows, width], weight [vocabulary, width].
template <class T>
void make_logits(View<const T> h, const WeightView<T>& weight, const LogitOptions<T>& options,
                 View<T> logits, const Pass& pass);

// Computes the loss of targets [rows] (negative ones are ignored) from the logits of h [rows,
// width], of which only some rows exist at a time. Unless dh is empty, dh [rows, width] becomes
// scale times the gradient of the smoothed loss, and dweight and dbias (null: none) are added to.
// Throws Error for options out of range and targets outside the vocabulary.
template <class T>
LossSum token_loss(View<const T> h, const WeightView<T>& weight,
                   std::span<const std::int64_t> targets, const TokenLossOptions& options,
                   View<T> dh, View<T> dweight, Pass& pass, const LogitOptions<T>& logits = {},
                   T* dbias = nullptr);

// Returns the log likelihood of each target, [rows], 0 for an ignored one, for scoring.
template <class T>
Tensor<double> token_log_likelihoods(View<const T> h, const WeightView<T>& weight,
                                     std::span<const std::int64_t> targets, Pass& pass,
                                     const LogitOptions<T>& logits = {});

}  // namespace sextant

// The last layer of a model of tokens and its loss: logits, softmax, cross entropy.
#pragma once

#include <cstdint>
#include <span>

#include "sextant/core/tensor.h"
#include "sextant/layers/pass.h"

namespace sextant {

// A loss summed over tokens.
struct LossSum {
  double loss = 0;           // of the tokens' negative log likelihoods, in nats
  double smoothed = 0;       // of what is minimised: with label smoothing, else equal to loss
  std::int64_t tokens = 0;   // how many targets it is a sum over
  std::int64_t correct = 0;  // of which the most probable token was the target

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
  double scale = 1;  // of the gradients: 1 / tokens for those of the mean
};

// What becomes of h weight^T: logits = cap(scale (h weight^T + bias)).
template <class T>
struct LogitOptions {
  const T* bias = nullptr;  // [vocabulary]; null: none
  double scale = 1;
  double softcap = 0;  // > 0: softcap tanh(logit / softcap); 0: off
};

// logits [rows, vocabulary] of h [rows, width], weight [vocabulary, width].
template <class T>
void make_logits(View<const T> h, View<const T> weight, const LogitOptions<T>& options,
                 View<T> logits, const Pass& pass);

// The loss of targets [rows], of which negative ones are left out, by the logits of h [rows,
// width], which exist for some rows at a time only. Unless dh is empty, dh [rows, width] becomes
// scale times the gradient of the smoothed loss, and dweight and dbias (null: none) are added to.
// Throws Error for options out of range and targets outside the vocabulary.
template <class T>
LossSum token_loss(View<const T> h, View<const T> weight, std::span<const std::int64_t> targets,
                   const TokenLossOptions& options, View<T> dh, View<T> dweight, Pass& pass,
                   const LogitOptions<T>& logits = {}, T* dbias = nullptr);

// The log likelihood of each target, [rows], 0 where it is left out: for scoring.
template <class T>
Tensor<double> token_log_likelihoods(View<const T> h, View<const T> weight,
                                     std::span<const std::int64_t> targets, Pass& pass,
                                     const LogitOptions<T>& logits = {});

}  // namespace sextant

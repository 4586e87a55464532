// Implements a decoder that may copy: its distribution over tokens is mixed with its attention over
// the source (See et al. 2017, 1704.04368; Jhamtani et al. 2017, 1707.01161).
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "sextant/layers/linear.h"
#include "sextant/layers/token_loss.h"

namespace sextant {

// Computes p(w) = g softmax(logits)[w] + (1 - g) sum of a_j over the source places j with the token
// w, with a = softmax(to_q(h) to_k(context)^T / sqrt(width)) over the places of the row's own
// sequence and g = sigmoid(gate(h)).
template <class T>
struct Pointer {
  Linear<T> to_q, to_k;  // [width, width], without bias
  Linear<T> gate;        // [1, width], with bias

  Pointer(std::int64_t width, FirstWeights weights);

  // The input of the loss: h [rows, width] of a decoder, the encoder's context [source tokens,
  // width] with its tokens, the sequences of both, and targets [rows], of which negative ones are
  // ignored.
  struct Input {
    View<const T> h, context;
    std::span<const std::int64_t> source;                      // tokens, [source tokens]
    std::span<const std::int64_t> segments, context_segments;  // [sequences + 1]
    std::span<const std::int64_t> targets;
  };
  // Computes token_loss() of the mixture; label smoothing applies only to the vocabulary's softmax.
  // Overwrites dh; adds to dcontext, dweight and the gradient. Empty dh: no gradients.
  LossSum loss(const Input& input, const WeightView<T>& weight, const TokenLossOptions& options,
               View<T> dh, View<T> dcontext, View<T> dweight, Pointer* gradient, Pass& pass) const;

  // Returns to_k(context), [source tokens, width], in the pass's memory.
  View<T> keys(View<const T> context, Pass& pass) const;
  // Mixes for decoding, with rows of one sequence. logits [rows, vocabulary] become log p; keys are
  // those of its context; copied, unless empty, [rows, source tokens], becomes (1 - g) a.
  void mix(View<const T> h, View<const T> keys, std::span<const std::int64_t> source,
           View<T> logits, View<T> copied, Pass& pass) const;

  // prefix + "to_q.", "to_k.", "gate.".
  void append_parameters(Parameters<T>& to, const std::string& prefix);
};

}  // namespace sextant

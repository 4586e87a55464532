// Defines the interface for processes that each hold a part of each sequence. sextant/ranks
// implements it with MPI.
#pragma once

#include <cstdint>
#include <vector>

#include "sextant/attention/attention.h"
#include "sextant/attention/backward.h"
#include "sextant/layers/pass.h"

namespace sextant {

// All layers except attention work token by token, so each process works on its own tokens. All
// processes make the same calls, in the same order; the batch and its options are the same on all.
class ContextParallel {
 public:
  virtual ~ContextParallel() = default;

  // Returns the local rows of a packed batch of `tokens` tokens, one range after the other.
  virtual std::vector<RowRange> rows(std::int64_t tokens) const = 0;
  // True on one of the processes: the one that adds gradients that are equal on all.
  virtual bool is_first() const noexcept = 0;

  // Compute attention() and attention_backward() over all rows, of arrays that hold the local ones.
  // `options` is that of the whole batch. The gradients of q, k and v are divided in the same way;
  // of others each process gets the sum over all.
  virtual void attention(View<const float> q, View<const float> k, View<const float> v,
                         View<float> out, const AttentionOptions<float>& options,
                         View<float> log_sum_exp) = 0;
  virtual void attention_backward(View<const float> q, View<const float> k, View<const float> v,
                                  View<const float> out, View<const float> dout,
                                  const AttentionGradients<float>& gradients,
                                  const AttentionOptions<float>& options,
                                  View<const float> log_sum_exp) = 0;
};

}  // namespace sextant

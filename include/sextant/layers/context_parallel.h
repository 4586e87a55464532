// Says what layers ask of processes that hold a part of each sequence. In sextant/ranks there is
// one on MPI.
#pragma once

#include <cstdint>
#include <vector>

#include "sextant/attention/attention.h"
#include "sextant/attention/backward.h"
#include "sextant/layers/pass.h"

namespace sextant {

// Everything but attention goes token by token, so that each process works on its own. All of them
// make the same calls, in the same order; what the batch and its options are is the same on all.
class ContextParallel {
 public:
  virtual ~ContextParallel() = default;

  // Which rows of a packed batch of `tokens` tokens are here, one range after the other.
  virtual std::vector<RowRange> rows(std::int64_t tokens) const = 0;
  // One of the processes: the one that adds up gradients that all of them have alike.
  virtual bool is_first() const noexcept = 0;

  // attention() and attention_backward() over all rows, of arrays that hold those here. `options`
  // is that of the whole batch. The gradients of q, k and v are divided likewise; of others each
  // process gets the sum over all.
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

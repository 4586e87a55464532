// A sequence that ranks hold a part of each, while they train.
#pragma once

#include <vector>

#include "sextant/layers/context_parallel.h"
#include "sextant/ranks/attention.h"

namespace sextant::ranks {

class RanksContextParallel final : public ContextParallel {
 public:
  explicit RanksContextParallel(Communicator comm) : comm_(std::move(comm)) {}

  std::vector<RowRange> rows(std::int64_t tokens) const override;
  bool is_first() const noexcept override { return comm_.rank() == 0; }
  void attention(View<const float> q, View<const float> k, View<const float> v, View<float> out,
                 const AttentionOptions<float>& options, View<float> log_sum_exp) override;
  void attention_backward(View<const float> q, View<const float> k, View<const float> v,
                          View<const float> out, View<const float> dout,
                          const AttentionGradients<float>& gradients,
                          const AttentionOptions<float>& options,
                          View<const float> log_sum_exp) override;

 private:
  Communicator comm_;
};

}  // namespace sextant::ranks

// Divides rows as zigzag, so that causal attention gives all ranks equal work.
#include "ranks/training/context_parallel.h"

#include "sextant/ranks/sharding.h"

namespace sextant::ranks {
namespace {

Options options_for(const AttentionOptions<float>& options) {
  Options ranks{.algorithm = Algorithm::ring,
                .sharding = Sharding::zigzag};  // memory falls with the ranks
  if (logit_term_of(options) != nullptr) ranks.algorithm = Algorithm::automatic;
  return ranks;
}

}  // namespace

std::vector<RowRange> RanksContextParallel::rows(std::int64_t tokens) const {
  std::vector<RowRange> ranges;
  for (const ShardRange& range :
       ShardLayout(Sharding::zigzag, tokens, comm_.size()).ranges(comm_.rank())) {
    ranges.push_back({range.begin, range.count});
  }
  return ranges;
}

void RanksContextParallel::attention(View<const float> q, View<const float> k, View<const float> v,
                                     View<float> out, const AttentionOptions<float>& options,
                                     View<float> log_sum_exp) {
  ranks::attention<float>(comm_, q, k, v, out, options, options_for(options), log_sum_exp);
}

void RanksContextParallel::attention_backward(View<const float> q, View<const float> k,
                                              View<const float> v, View<const float> out,
                                              View<const float> dout,
                                              const AttentionGradients<float>& gradients,
                                              const AttentionOptions<float>& options,
                                              View<const float> log_sum_exp) {
  ranks::attention_backward<float>(comm_, q, k, v, out, dout, gradients, options,
                                   options_for(options), log_sum_exp);
}

}  // namespace sextant::ranks

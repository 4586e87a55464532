// Attention weights on demand: chosen rows and heads at a stage.
#include <algorithm>
#include <limits>

#include "arguments.h"
#include "each_row.h"
#include "row.h"
#include "sextant/attention/attention.h"

namespace sextant {
namespace {

// The list itself, or 0 .. count - 1 when it is empty.
std::vector<std::int64_t> all_if_empty(const std::vector<std::int64_t>& chosen,
                                       std::int64_t count) {
  if (!chosen.empty()) return chosen;
  std::vector<std::int64_t> all(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) all[static_cast<std::size_t>(i)] = i;
  return all;
}

}  // namespace

template <AttentionElement T>
Tensor<T> attention_weights(View<const T> q, std::type_identity_t<View<const T>> k,
                            const AttentionOptions<std::type_identity_t<T>>& options,
                            const WeightsOptions& chosen) {
  const auto a = detail::check_scores<T>("attention_weights", q, k, options);
  if (name_of(chosen.stage) == "unknown") {
    throw Error("attention_weights.stage", "must be one of the named values, got " +
                                               std::to_string(static_cast<int>(chosen.stage)));
  }
  detail::check_indices("attention_weights.heads", chosen.heads, a.heads_q);
  detail::check_indices("attention_weights.rows", chosen.rows, a.q_len);
  const auto heads = all_if_empty(chosen.heads, a.heads_q);
  const auto queries = all_if_empty(chosen.rows, a.q_len);
  const auto head_count = static_cast<std::int64_t>(heads.size());
  const auto query_count = static_cast<std::int64_t>(queries.size());
  auto weights = Tensor<T>::uninitialized(Shape{a.batch, head_count, query_count, a.k_len});
  if (weights.count() == 0) return weights;

  const bool hides = chosen.stage == Stage::biased || chosen.stage == Stage::probabilities;
  const double hidden =
      chosen.stage == Stage::probabilities ? 0 : -std::numeric_limits<double>::infinity();
  detail::for_each_row(
      a.batch * head_count * query_count, a.k_len * a.head_dim, options.threads,
      detail::row_scratch_size(a.head_dim, a.k_len), [&](std::int64_t row, double* memory) {
        const auto scratch = detail::row_scratch(memory, a.head_dim, a.k_len);
        const std::int64_t query = queries[static_cast<std::size_t>(row % query_count)];
        detail::RowIndex at{a.sequence_of(row / (head_count * query_count), query),
                            heads[static_cast<std::size_t>(row / query_count % head_count)], 0};
        at.query = query - at.sequence.begin;
        detail::KeyRange range{0, a.k_len};
        if (hides) {
          range = detail::biased_scores(a, at, scratch);
        } else {
          // Padding has scores too; other segments have none.
          if (a.segments.empty()) at.sequence.k_len = a.k_len;
          range.last = at.sequence.k_len;
          detail::plain_scores(a, at, chosen.stage == Stage::capped, scratch);
        }
        if (chosen.stage == Stage::probabilities) {
          detail::softmax(scratch.scores + range.first, range.last - range.first, a.sink(at.head));
        }
        T* target = weights.data() + row * a.k_len;
        std::fill_n(target, a.k_len, T(hidden));
        for (std::int64_t j = range.first; j < range.last; ++j) {
          target[at.sequence.begin + j] = static_cast<T>(scratch.scores[j]);
        }
      });
  return weights;
}

#define SEXTANT_INSTANTIATE(T)                                                                   \
  template Tensor<T> attention_weights(View<const T>, View<const T>, const AttentionOptions<T>&, \
                                       const WeightsOptions&);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
SEXTANT_INSTANTIATE(float16)
SEXTANT_INSTANTIATE(bfloat16)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant

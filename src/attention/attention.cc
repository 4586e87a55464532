// The operator's first form: one row after the other, a row's scores in scratch, never a matrix.
#include "sextant/attention/attention.h"

#include <algorithm>
#include <atomic>
#include <limits>

#include "arguments.h"
#include "row.h"
#include "sextant/core/parallel.h"

namespace sextant {
namespace {

// Multiply-adds that are worth handing to another thread, about ten microseconds; a call with less
// stays on the caller's.
constexpr std::int64_t kBlockWork = std::int64_t{1} << 14;

// Runs body(row, scratch) for each row in [0, rows) on up to `threads` threads; `scratch` holds
// `doubles` numbers, a row takes `row_work` multiply-adds. Threads take blocks of rows as they get
// done, because causal rows differ and another process may hold a core.
template <class Body>
void for_each_row(std::int64_t rows, std::int64_t row_work, int threads, std::int64_t doubles,
                  const Body& body) {
  const std::int64_t block_rows = 1 + kBlockWork / (row_work + 1);
  const std::int64_t blocks = (rows + block_rows - 1) / block_rows;
  const std::int64_t workers =
      std::min<std::int64_t>(blocks, threads == 0 ? default_threads() : threads);
  if (workers == 0) return;
  constexpr std::int64_t kDoublesPerLine = kAlignment / sizeof(double);
  const std::int64_t share = (doubles + kDoublesPerLine - 1) / kDoublesPerLine * kDoublesPerLine;
  auto scratch = Tensor<double>::uninitialized(Shape{workers, share});
  std::atomic<std::int64_t> next{0};
  parallel_for(workers, static_cast<int>(workers), [&](std::int64_t worker) {
    for (std::int64_t block = next++; block < blocks; block = next++) {
      const std::int64_t end = std::min(rows, (block + 1) * block_rows);
      for (std::int64_t row = block * block_rows; row < end; ++row) {
        body(row, scratch.data() + worker * share);
      }
    }
  });
}

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
void attention(std::type_identity_t<View<const T>> q, std::type_identity_t<View<const T>> k,
               std::type_identity_t<View<const T>> v, View<T> out,
               const AttentionOptions<std::type_identity_t<T>>& options) {
  const auto a = detail::check_scores<T>("attention", q, k, options);
  detail::check_values<T>(a, v, out);
  const std::int64_t v_dim = v.size(3);
  if (out.count() == 0) return;

  for_each_row(a.batch * a.heads_q * a.q_len, a.k_len * (a.head_dim + v_dim), options.threads,
               a.head_dim + a.k_len + v_dim, [&](std::int64_t row, double* scratch) {
                 const detail::RowIndex at{row / (a.heads_q * a.q_len), row / a.q_len % a.heads_q,
                                           row % a.q_len};
                 double* scores = scratch + a.head_dim;
                 double* sum = scores + a.k_len;
                 const auto range = detail::biased_scores(a, at, {scratch, scores});
                 detail::softmax(scores + range.first, range.last - range.first);
                 const View<const T> values =
                     v.select(0, at.sequence).select(0, a.key_head(at.head));
                 detail::weigh_values(scores, range, values, sum);
                 for (std::int64_t c = 0; c < v_dim; ++c) {
                   out(at.sequence, at.head, at.query, c) = static_cast<T>(sum[c]);
                 }
               });
}

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
      chosen.stage == Stage::biased ? -std::numeric_limits<double>::infinity() : 0;
  for_each_row(
      a.batch * head_count * query_count, a.k_len * a.head_dim, options.threads,
      a.head_dim + a.k_len, [&](std::int64_t row, double* scratch) {
        const detail::RowIndex at{row / (head_count * query_count),
                                  heads[static_cast<std::size_t>(row / query_count % head_count)],
                                  queries[static_cast<std::size_t>(row % query_count)]};
        double* scores = scratch + a.head_dim;
        detail::KeyRange range{0, a.k_len};
        if (hides) {
          range = detail::biased_scores(a, at, {scratch, scores});
        } else {
          detail::plain_scores(a, at, chosen.stage == Stage::capped, {scratch, scores});
        }
        if (chosen.stage == Stage::probabilities) {
          detail::softmax(scores + range.first, range.last - range.first);
        }
        T* target = weights.data() + row * a.k_len;
        for (std::int64_t j = 0; j < a.k_len; ++j) {
          target[j] = static_cast<T>(j >= range.first && j < range.last ? scores[j] : hidden);
        }
      });
  return weights;
}

template void attention<float>(View<const float>, View<const float>, View<const float>, View<float>,
                               const AttentionOptions<float>&);
template void attention<double>(View<const double>, View<const double>, View<const double>,
                                View<double>, const AttentionOptions<double>&);
template Tensor<float> attention_weights(View<const float>, View<const float>,
                                         const AttentionOptions<float>&, const WeightsOptions&);
template Tensor<double> attention_weights(View<const double>, View<const double>,
                                          const AttentionOptions<double>&, const WeightsOptions&);

}  // namespace sextant

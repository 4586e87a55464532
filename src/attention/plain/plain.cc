// The operator one row after the other: a row's scores in scratch, never a matrix.
#include "attention/plain/plain.h"

#include <cmath>
#include <vector>

#include "attention/plain/each_row.h"
#include "attention/plain/row.h"

namespace sextant::attention_detail {

std::int64_t plain_row_scratch(const AttentionCall& a, std::int64_t v_dim) {
  ScratchDivider<double> arrays;
  arrays.take(v_dim);
  row_scratch(arrays, a);
  return arrays.size();
}

double plain_row(const AttentionCall& a, const Sequence& sequence, std::int64_t head,
                 std::int64_t query, const KeyArray& v, double* memory) {
  ScratchDivider arrays(memory);
  double* const out = arrays.take(v.size(3));
  const RowScratch scratch = row_scratch(arrays, a);
  const RowIndex at{sequence, head, query};
  const KeyRange range = biased_scores(a, at, scratch);
  const double log_sum =
      softmax(scratch.scores + range.begin, range.end - range.begin, a.sink(head));
  drop_weights(a, at, range, scratch.scores);
  output_row(a, at, range, v, scratch, out);
  return log_sum;
}

void recompute_nonfinite_channels(const AttentionCall& a, const Sequence& at, std::int64_t head,
                                  std::int64_t query, const KeyArray& v, const AnyOutput& out) {
  std::vector<double> memory(static_cast<std::size_t>(plain_row_scratch(a, v.size(3))));
  const double log_sum = plain_row(a, at, head, query, v, memory.data());
  const std::int64_t row = at.q_begin + query;
  const auto to = out.row(at.batch, head, row);
  std::vector<float> fast(static_cast<std::size_t>(v.size(3)));
  to.load(fast.data());
  for (std::size_t c = 0; c < fast.size(); ++c) {
    if (!std::isfinite(fast[c])) to.narrow(static_cast<std::int64_t>(c), 1).store(&memory[c]);
  }
  if (a.log_sum_exp.data() == nullptr) return;
  float& fast_sum = a.log_sum_exp(at.batch, head, row);
  if (!std::isfinite(fast_sum)) fast_sum = static_cast<float>(log_sum);
}

void plain_attention(const AttentionCall& a, const KeyArray& v, const AnyOutput& out) {
  const std::int64_t v_dim = v.size(3);
  for_each_row(a.batch * a.heads_q * a.q_len, a.k_len * (a.head_dim + v_dim), a.threads,
               plain_row_scratch(a, v_dim), [&](std::int64_t number, double* memory) {
                 const std::int64_t batch = number / (a.heads_q * a.q_len);
                 const std::int64_t head = number / a.q_len % a.heads_q, row = number % a.q_len;
                 const Sequence at = a.sequence_of(batch, row);
                 const double log_sum = plain_row(a, at, head, row - at.q_begin, v, memory);
                 out.row(batch, head, row).store(memory);
                 if (a.log_sum_exp.data() != nullptr) {
                   a.log_sum_exp(batch, head, row) = static_cast<float>(log_sum);
                 }
               });
}

}  // namespace sextant::attention_detail

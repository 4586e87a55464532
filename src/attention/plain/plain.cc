// The operator one row after the other: a row's scores in scratch, never a matrix.
#include "attention/plain/plain.h"

#include <cmath>
#include <vector>

#include "attention/plain/each_row.h"
#include "attention/plain/row.h"
#include "core/arrays/each_dtype.h"

namespace sextant::attention_detail {

template <class T>
std::int64_t plain_row_scratch(const Arguments<T>& a, std::int64_t v_dim) {
  ScratchDivider<double> arrays;
  arrays.take(v_dim);
  row_scratch(arrays, a);
  return arrays.size();
}

template <class T>
double plain_row(const Arguments<T>& a, const Sequence& sequence, std::int64_t head,
                 std::int64_t query, View<const T> v, double* memory) {
  ScratchDivider arrays(memory);
  double* const out = arrays.take(v.size(3));
  const RowScratch scratch = row_scratch(arrays, a);
  const RowIndex at{sequence, head, query};
  const KeyRange range = biased_scores(a, at, scratch);
  const double log_sum =
      softmax(scratch.scores + range.begin, range.end - range.begin, a.sink(head));
  output_row(a, at, range, v, scratch, out);
  return log_sum;
}

template <class T>
void recompute_nonfinite_channels(const Arguments<T>& a, const Sequence& at, std::int64_t head,
                                  std::int64_t query, View<const T> v, View<T> out) {
  std::vector<double> memory(static_cast<std::size_t>(plain_row_scratch(a, v.size(3))));
  const double log_sum = plain_row(a, at, head, query, v, memory.data());
  const std::int64_t row = at.q_begin + query;
  for (std::int64_t c = 0; c < v.size(3); ++c) {
    T& to = out(at.batch, head, row, c);
    if (!std::isfinite(static_cast<float>(to))) {
      to = static_cast<T>(memory[static_cast<std::size_t>(c)]);
    }
  }
  if (a.log_sum_exp.data() == nullptr) return;
  float& to = a.log_sum_exp(at.batch, head, row);
  if (!std::isfinite(to)) to = static_cast<float>(log_sum);
}

template <class T>
void plain_attention(const Arguments<T>& a, View<const T> v, View<T> out) {
  const std::int64_t v_dim = v.size(3);
  for_each_row(a.batch * a.heads_q * a.q_len, a.k_len * (a.head_dim + v_dim), a.threads,
               plain_row_scratch(a, v_dim), [&](std::int64_t number, double* memory) {
                 const std::int64_t batch = number / (a.heads_q * a.q_len);
                 const std::int64_t head = number / a.q_len % a.heads_q, row = number % a.q_len;
                 const Sequence at = a.sequence_of(batch, row);
                 const double log_sum = plain_row(a, at, head, row - at.q_begin, v, memory);
                 for (std::int64_t c = 0; c < v_dim; ++c) {
                   out(batch, head, row, c) = static_cast<T>(memory[c]);
                 }
                 if (a.log_sum_exp.data() != nullptr) {
                   a.log_sum_exp(batch, head, row) = static_cast<float>(log_sum);
                 }
               });
}

#define SEXTANT_INSTANTIATE(T)                                                                   \
  template std::int64_t plain_row_scratch(const Arguments<T>&, std::int64_t);                    \
  template double plain_row(const Arguments<T>&, const Sequence&, std::int64_t, std::int64_t,    \
                            View<const T>, double*);                                             \
  template void recompute_nonfinite_channels(const Arguments<T>&, const Sequence&, std::int64_t, \
                                             std::int64_t, View<const T>, View<T>);              \
  template void plain_attention(const Arguments<T>&, View<const T>, View<T>);
SEXTANT_FOR_EACH_FLOATING(SEXTANT_INSTANTIATE)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::attention_detail

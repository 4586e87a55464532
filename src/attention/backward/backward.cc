// attention_backward(): checks, then the path that fits.
#include "sextant/attention/backward.h"

#include "attention/backward/fused_backward.h"
#include "attention/backward/sums.h"
#include "attention/plain/plain_backward.h"
#include "core/arrays/each_dtype.h"

namespace sextant {
namespace {

// Sets gradients to zero where no pair of a query and a key contributes: padding, and hidden places
// of a mask.
void zero_the_untouched(const attention_detail::BackwardArguments& b) {
  for_each_row_of(b.wanted.mask, [](const auto& row) { row.fill(0); });
  if (b.scores.key_lengths == nullptr) return;
  for (std::int64_t row = 0; row < b.scores.batch; ++row) {
    for (const AnyOutput& keys : {b.wanted.k, b.wanted.v}) {
      for (std::int64_t head = 0; keys.is_given() && head < b.scores.kv_heads; ++head) {
        for (std::int64_t key = b.scores.key_lengths[row]; key < b.scores.k_len; ++key) {
          keys.row(row, head, key).fill(0);
        }
      }
    }
  }
}

}  // namespace

template <AttentionElement T>
void attention_backward(
    std::type_identity_t<View<const T>> q, std::type_identity_t<View<const T>> k,
    std::type_identity_t<View<const T>> v, std::type_identity_t<View<const T>> out,
    std::type_identity_t<View<const T>> dout, const AttentionGradients<T>& gradients,
    const AttentionOptions<std::type_identity_t<T>>& options, View<const float> log_sum_exp) {
  const auto b = attention_detail::check_backward("attention_backward", q, k, v, out, dout,
                                                  attention_detail::WantedGradients(gradients),
                                                  options, log_sum_exp);
  attention_detail::BackwardSums sums(b);
  zero_the_untouched(b);
  attention_detail::takes_fused_path(b.scores) ? attention_detail::fused_backward(b, sums)
                                               : attention_detail::plain_backward(b, sums);
  sums.finish();
}

#define SEXTANT_INSTANTIATE(T)                                                                    \
  template void attention_backward<T>(View<const T>, View<const T>, View<const T>, View<const T>, \
                                      View<const T>, const AttentionGradients<T>&,                \
                                      const AttentionOptions<T>&, View<const float>);
SEXTANT_FOR_EACH_FLOATING(SEXTANT_INSTANTIATE)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant

// attention_backward(): checks, then the path that fits.
#include "sextant/attention/backward.h"

#include "attention/backward/fused_backward.h"
#include "attention/backward/sums.h"
#include "attention/plain/plain_backward.h"

namespace sextant {
namespace {

// Sets gradients to zero where no pair of a query and a key contributes: padding, and hidden places
// of a mask.
template <class T>
void zero_the_untouched(const attention_detail::BackwardArguments<T>& b) {
  if (b.mask != nullptr) attention_detail::zero_mask_gradient(b);
  if (b.scores.key_lengths == nullptr) return;
  for (std::int64_t row = 0; row < b.scores.batch; ++row) {
    const std::int64_t used = b.scores.key_lengths[row], rest = b.scores.k_len - used;
    for (const View<T>& keys : {b.wanted.k, b.wanted.v}) {
      if (attention_detail::is_given(keys))
        attention_detail::fill_zero(keys.narrow(0, row, 1).narrow(2, used, rest));
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
  const auto b =
      attention_detail::check_backward<T>(q, k, v, out, dout, gradients, options, log_sum_exp);
  attention_detail::BackwardSums<T> sums(b);
  zero_the_untouched(b);
  if constexpr (!std::is_same_v<T, double>) {
    if (attention_detail::takes_fused_path(b)) {
      attention_detail::fused_backward(b, sums);
      return sums.finish();
    }
  }
  attention_detail::plain_backward(b, sums);
  sums.finish();
}

#define SEXTANT_INSTANTIATE(T)                                                                    \
  template void attention_backward<T>(View<const T>, View<const T>, View<const T>, View<const T>, \
                                      View<const T>, const AttentionGradients<T>&,                \
                                      const AttentionOptions<T>&, View<const float>);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
SEXTANT_INSTANTIATE(float16)
SEXTANT_INSTANTIATE(bfloat16)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant

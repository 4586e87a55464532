// attention_backward(): checks, then the path that fits.
#include "sextant/attention/backward.h"

#include <array>

#include "backward_sums.h"
#include "plain_backward.h"

namespace sextant {
namespace {

template <class T>
void fill_zero(View<T> view) {
  if (view.count() == 0) return;
  std::array<std::int64_t, kMaxRank> index{};
  T* at = view.data();
  for (;;) {
    *at = T(0);
    int axis = view.rank() - 1;
    for (; axis >= 0; --axis) {
      auto& i = index[static_cast<std::size_t>(axis)];
      at += view.stride(axis);
      if (++i < view.size(axis)) break;
      at -= i * view.stride(axis);
      i = 0;
    }
    if (axis < 0) return;
  }
}

// What no pair of a query and a key touches: padding, and hidden places of a mask.
template <class T>
void zero_the_untouched(const detail::BackwardArguments<T>& b) {
  if (b.mask != nullptr) fill_zero(b.wanted.mask);
  if (b.scores.key_lengths == nullptr) return;
  for (std::int64_t row = 0; row < b.scores.batch; ++row) {
    const std::int64_t used = b.scores.key_lengths[row], rest = b.scores.k_len - used;
    for (const View<T>& keys : {b.wanted.k, b.wanted.v}) {
      if (detail::is_wanted(keys)) fill_zero(keys.narrow(0, row, 1).narrow(2, used, rest));
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
  const auto b = detail::check_backward<T>(q, k, v, out, dout, gradients, options, log_sum_exp);
  detail::BackwardSums<T> sums(b);
  zero_the_untouched(b);
  detail::plain_backward(b, sums);
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

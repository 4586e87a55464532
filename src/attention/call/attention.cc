// attention(): checks, then the path that fits.
#include "sextant/attention/attention.h"

#include <concepts>

#include "attention/call/arguments.h"
#include "attention/forward/fused.h"
#include "attention/plain/plain.h"
#include "core/arrays/each_dtype.h"

namespace sextant {

template <AttentionElement T>
void attention(std::type_identity_t<View<const T>> q, std::type_identity_t<View<const T>> k,
               std::type_identity_t<View<const T>> v, View<T> out,
               const AttentionOptions<std::type_identity_t<T>>& options, View<float> log_sum_exp) {
  auto a = attention_detail::check_scores<T>("attention", q, k, options);
  attention_detail::check_values<T>("attention", a, v, out, log_sum_exp, options);
  if constexpr (!std::same_as<T, double>) {
    if (attention_detail::takes_fused_path(a))
      return attention_detail::fused_attention<T>(a, v, out);
  }
  attention_detail::plain_attention<T>(a, v, out);
}

#define SEXTANT_INSTANTIATE(T)                                                     \
  template void attention<T>(View<const T>, View<const T>, View<const T>, View<T>, \
                             const AttentionOptions<T>&, View<float>);
SEXTANT_FOR_EACH_FLOATING(SEXTANT_INSTANTIATE)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant

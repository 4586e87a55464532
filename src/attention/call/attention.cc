// attention(): checks, then the path that fits.
#include "sextant/attention/attention.h"

#include "attention/call/arguments.h"
#include "attention/call/run_attention.h"
#include "attention/forward/fused.h"
#include "attention/plain/plain.h"
#include "core/arrays/each_dtype.h"

namespace sextant {

template <class M>
void attention_detail::run_attention(const AnyView& q, const KeyArray& k, const KeyArray& v,
                                     const AnyOutput& out, const AttentionOptionsOf<M>& options,
                                     View<float> log_sum_exp) {
  AttentionCall a = check_scores("attention", q, k, options);
  check_values("attention", a, v, out, log_sum_exp, options);
  takes_fused_path(a) ? fused_attention(a, v, out) : plain_attention(a, v, out);
}

template void attention_detail::run_attention(const AnyView&, const KeyArray&, const KeyArray&,
                                              const AnyOutput&, const AttentionOptionsOf<float>&,
                                              View<float>);
template void attention_detail::run_attention(const AnyView&, const KeyArray&, const KeyArray&,
                                              const AnyOutput&, const AttentionOptionsOf<double>&,
                                              View<float>);

template <AttentionElement T>
void attention(std::type_identity_t<View<const T>> q, std::type_identity_t<View<const T>> k,
               std::type_identity_t<View<const T>> v, View<T> out,
               const AttentionOptions<std::type_identity_t<T>>& options, View<float> log_sum_exp) {
  attention_detail::run_attention(q, k, v, out, options, log_sum_exp);
}

#define SEXTANT_INSTANTIATE(T)                                                     \
  template void attention<T>(View<const T>, View<const T>, View<const T>, View<T>, \
                             const AttentionOptions<T>&, View<float>);
SEXTANT_FOR_EACH_FLOATING(SEXTANT_INSTANTIATE)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant

// ranks::attention(): checks, then the algorithm that fits.
#include "sextant/ranks/attention.h"

#include <string>
#include <type_traits>

#include "attention/call/input_arrays.h"
#include "core/arrays/each_dtype.h"
#include "core/options/enum_names.h"
#include "ranks/attention/algorithms/algorithms.h"

namespace sextant::ranks {
namespace {

constexpr const char* kFunction = "ranks.attention";

template <class T>
void run(Algorithm algorithm, const Call<T>& call, View<T> out, View<float> logs) {
  if (algorithm == Algorithm::ulysses) return ulysses_attention(call, out, logs);
  if constexpr (!std::is_same_v<T, double>) {
    if (algorithm == Algorithm::ring) return ring_attention(call, out, logs);
  }
  gather_attention(call, out, logs);
}

// The arrays of a rank for the results.
template <class T>
void check_results(View<const T> q, View<const T> k, View<const T> v, View<T> out,
                   const AttentionOptions<T>& options, View<float> log_sum_exp) {
  check_own(kFunction, "out", out, Shape{q.size(0), q.size(1), q.size(2), v.size(3)});
  CallArrays arrays = attention_detail::input_arrays(kFunction, q, k, v, options);
  arrays.add_output("out", out);
  if (!attention_detail::is_given(log_sum_exp)) return;
  check_own(kFunction, "log_sum_exp", log_sum_exp, Shape{q.size(0), q.size(1), q.size(2)});
  arrays.add_output("log_sum_exp", log_sum_exp);
}

}  // namespace

std::string_view name_of(Algorithm algorithm) noexcept {
  return enum_name(algorithm, {"auto", "ring", "gather", "ulysses"});
}

std::string_view name_of(WireType wire_type) noexcept {
  return enum_name(wire_type, {"unchanged", "float16", "bfloat16"});
}

template <AttentionElement T>
void attention(const Communicator& comm, std::type_identity_t<View<const T>> q,
               std::type_identity_t<View<const T>> k, std::type_identity_t<View<const T>> v,
               View<T> out, const AttentionOptions<std::type_identity_t<T>>& options,
               const Options& ranks, View<float> log_sum_exp) {
  const Call<T> call = check_call<T>(kFunction, comm, q, k, v, options, ranks,
                                     [&] { check_results<T>(q, k, v, out, options, log_sum_exp); });
  run(algorithm_of(kFunction, call), call, out, log_sum_exp);
}

#define SEXTANT_INSTANTIATE(T)                                                                 \
  template void attention<T>(const Communicator&, View<const T>, View<const T>, View<const T>, \
                             View<T>, const AttentionOptions<T>&, const Options&, View<float>);
SEXTANT_FOR_EACH_FLOATING(SEXTANT_INSTANTIATE)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::ranks

// ranks::attention_backward(): checks, then the algorithm that fits.
#include <string>
#include <type_traits>

#include "attention/call/input_arrays.h"
#include "core/arrays/each_dtype.h"
#include "ranks/attention/algorithms/algorithms.h"
#include "sextant/ranks/attention.h"

namespace sextant::ranks {
namespace {

using attention_detail::is_given;

constexpr const char* kBackwardFunction = "ranks.attention_backward";

// The arrays of a rank: the results of the forward call, and gradients with the shapes of their
// inputs.
template <class T>
void check_arrays(View<const T> q, View<const T> k, View<const T> v, View<const T> out,
                  View<const T> dout, const AttentionGradients<T>& wanted,
                  const AttentionOptions<T>& options, View<const float> log_sum_exp) {
  const std::int64_t batch = q.size(0), heads = q.size(1), rows = q.size(2);
  const Shape result{batch, heads, rows, v.size(3)};
  check_own(kBackwardFunction, "out", out, result);
  check_own(kBackwardFunction, "dout", dout, result);
  check_own(kBackwardFunction, "log_sum_exp", log_sum_exp, Shape{batch, heads, rows});
  CallArrays arrays = attention_detail::input_arrays(kBackwardFunction, q, k, v, options);
  arrays.add_input("out", out);
  arrays.add_input("dout", dout);
  arrays.add_input("log_sum_exp", log_sum_exp);
  const auto check = [&arrays]<class U>(const char* argument, const MemberView<U>& view,
                                        bool exists, const Shape& shape, const char* needs) {
    if (!is_given<U>(view)) return;
    if (!exists)
      throw Error(name_in(kBackwardFunction, argument), std::string("must be given with ") + needs);
    check_own<U>(kBackwardFunction, argument, view, shape);
    arrays.add_output(argument, view);
  };
  check("gradients.q", wanted.q, true, q.shape(), "");
  check("gradients.k", wanted.k, true, k.shape(), "");
  check("gradients.v", wanted.v, true, v.shape(), "");
  const DistanceBias* bias = options.bias;
  const bool table = bias != nullptr && bias->has_table();
  check("gradients.bias.values", wanted.bias.values, table, table ? bias->values.shape() : Shape{0},
        "options.bias.values");
  check("gradients.bias.slopes", wanted.bias.slopes, bias != nullptr && !bias->slopes.empty(),
        Shape{heads}, "options.bias.slopes");
  check("gradients.sinks", wanted.sinks, !options.sinks.empty(), Shape{heads}, "options.sinks");
  const auto* mask = std::get_if<FloatMask<T>>(&options.mask);
  check("gradients.mask", wanted.mask, mask != nullptr, mask ? mask->shape() : Shape{0},
        "a float mask");
  if (!wanted.terms.empty() && wanted.terms.size() != options.terms.size()) {
    throw Error(name_in(kBackwardFunction, "gradients.terms"),
                "must be one for each of options.terms, " + std::to_string(options.terms.size()) +
                    ", got " + std::to_string(wanted.terms.size()));
  }
  for (std::size_t n = 0; n < wanted.terms.size(); ++n) {
    const std::int64_t parameters = options.terms[n]->needs().parameters;
    check(("gradients.terms[" + std::to_string(n) + "]").c_str(), wanted.terms[n], parameters > 0,
          Shape{parameters}, "a term that learns");
  }
}

template <class T>
bool any_term(const AttentionGradients<T>& g) {
  return std::ranges::any_of(g.terms, [](const auto& view) { return is_given<double>(view); });
}

// Gradients must be wanted by all ranks or by none.
template <class T>
Agreement agreement_on_gradients(const AttentionGradients<T>& g) {
  std::string all;
  for (const bool each :
       {is_given(g.q), is_given(g.k), is_given(g.v), is_given(g.bias.values),
        is_given(g.bias.slopes), is_given(g.mask), is_given(g.sinks), any_term(g)}) {
    all += each ? '1' : '0';
  }
  return Agreement().add(name_in(kBackwardFunction, "gradients"), all);
}

// Returns whether a wanted gradient is a sum over several heads.
template <class T>
bool sums_over_heads(const Call<T>& call, const AttentionGradients<T>& wanted) {
  const auto by_head = [&](int axis) {
    return axis >= 0 && (wanted.mask.size(axis) != 1 || call.all.heads_q == 1);
  };
  return (is_given(wanted.bias.values) && wanted.bias.values.size(0) == 1) || any_term(wanted) ||
         (is_given(wanted.mask) && !by_head(wanted.mask.rank() - 3));
}

template <class T>
void run_backward(const BackwardCall<T>& b) {
  const Call<T>& call = b.call;
  if constexpr (!std::is_same_v<T, double>) {
    const bool by_ring = call.ranks.algorithm != Algorithm::ulysses && !call.ranks.reproducible &&
                         call.ranks.sharding != Sharding::striped &&
                         call.all.logit_term.term == nullptr;
    if (by_ring && ring_backward(b)) return;
  }
  ulysses_backward(b, call.ranks.reproducible && sums_over_heads(call, b.wanted));
}

}  // namespace

template <AttentionElement T>
void attention_backward(const Communicator& comm, std::type_identity_t<View<const T>> q,
                        std::type_identity_t<View<const T>> k,
                        std::type_identity_t<View<const T>> v,
                        std::type_identity_t<View<const T>> out,
                        std::type_identity_t<View<const T>> dout,
                        const AttentionGradients<T>& gradients,
                        const AttentionOptions<std::type_identity_t<T>>& options,
                        const Options& ranks, View<const float> log_sum_exp) {
  const Call<T> call = check_call<T>(
      kBackwardFunction, comm, q, k, v, options, ranks,
      [&] { check_arrays<T>(q, k, v, out, dout, gradients, options, log_sum_exp); },
      agreement_on_gradients(gradients));
  if (ranks.algorithm != Algorithm::automatic)
    algorithm_of(kBackwardFunction, call);  // refuses calls that algorithms do not support
  run_backward<T>({call, out, dout, log_sum_exp, gradients});
}

#define SEXTANT_INSTANTIATE(T)                                                                  \
  template void attention_backward<T>(const Communicator&, View<const T>, View<const T>,        \
                                      View<const T>, View<const T>, View<const T>,              \
                                      const AttentionGradients<T>&, const AttentionOptions<T>&, \
                                      const Options&, View<const float>);
SEXTANT_FOR_EACH_FLOATING(SEXTANT_INSTANTIATE)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::ranks

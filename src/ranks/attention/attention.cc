// ranks::attention() and its gradients: checks, then the form that fits.
#include "sextant/ranks/attention.h"

#include <string>
#include <type_traits>

#include "core/enum_names.h"
#include "core/overlap.h"
#include "ranks/attention/choice.h"
#include "ranks/attention/forms.h"
#include "ranks/attention/moved.h"
#include "sextant/ranks/agreement.h"

namespace sextant::ranks {
namespace {

constexpr const char* kForward = "ranks.attention";
constexpr const char* kBackward = "ranks.attention_backward";

template <class T>
void run_form(Form form, const Call<T>& call, View<T> out, View<float> logs) {
  if (form == Form::ulysses) return ulysses_attention(call, out, logs);
  if constexpr (!std::is_same_v<T, double>) {
    if (form == Form::ring) return ring_attention(call, out, logs);
  }
  gather_attention(call, out, logs);
}

bool is_given(View<const float> logs) { return logs.rank() == 3; }

template <class V>
bool wants(const V& view) {
  return attention_detail::is_wanted(view);
}

// The gradients besides those of q, k and v, which must fit on every rank, and be wanted by all.
template <class T>
void check_gradients(const Call<T>& call, const AttentionGradients<T>& wanted) {
  const AttentionOptions<T>& options = call.options;
  const auto check = [](const char* name, const auto& view, bool exists, const Shape& shape,
                        const char* needs) {
    if (!wants(view)) return;
    const std::string where = std::string(kBackward) + ".gradients." + name;
    if (!exists) throw Error(where, std::string("must go with ") + needs);
    if (view.shape() == shape) return;
    throw Error(where, "must be " + shape.to_string() + ", got " + view.shape().to_string());
  };
  together(call.comm, [&] {
    const DistanceBias* bias = options.bias;
    const bool table = bias != nullptr && bias->has_table();
    check("bias.values", wanted.bias.values, table, table ? bias->values.shape() : Shape{0},
          "options.bias.values");
    const Shape heads{call.all.heads_q};
    check("bias.slopes", wanted.bias.slopes, bias != nullptr && !bias->slopes.empty(), heads,
          "options.bias.slopes");
    check("sinks", wanted.sinks, !options.sinks.empty(), heads, "options.sinks");
    const auto* mask = std::get_if<FloatMask<T>>(&options.mask);
    check("mask", wanted.mask, mask != nullptr, mask ? mask->shape() : Shape{0}, "a float mask");
    check("indexed", wanted.indexed, options.indexed != nullptr,
          Shape{options.indexed ? options.indexed->gradient_size() : 0}, "options.indexed");
    check("content", wanted.content, options.content != nullptr,
          Shape{options.content ? options.content->gradient_size() : 0}, "options.content");
  });
  std::string all;
  for (const bool each : {wants(wanted.q), wants(wanted.k), wants(wanted.v),
                          wants(wanted.bias.values), wants(wanted.bias.slopes), wants(wanted.mask),
                          wants(wanted.sinks), wants(wanted.indexed), wants(wanted.content)}) {
    all += each ? '1' : '0';
  }
  Agreement().add(std::string(kBackward) + ".gradients", all).check(call.comm);
}

// Whether a wanted gradient adds up what several heads give.
template <class T>
bool sums_over_heads(const Call<T>& call, const AttentionGradients<T>& wanted) {
  const auto by_head = [&](int axis) {
    return axis >= 0 && (wanted.mask.size(axis) != 1 || call.all.heads_q == 1);
  };
  return (wants(wanted.bias.values) && wanted.bias.values.size(0) == 1) || wants(wanted.indexed) ||
         wants(wanted.content) || (wants(wanted.mask) && !by_head(wanted.mask.rank() - 3));
}

template <class T>
void run_backward(const BackwardCall<T>& b) {
  const Call<T>& call = b.call;
  if constexpr (!std::is_same_v<T, double>) {
    const bool by_ring =
        call.ranks.form != Form::ulysses && !call.ranks.reproducible && call.all.content == nullptr;
    if (by_ring && ring_backward(b)) return;
  }
  ulysses_backward(b, call.ranks.reproducible && sums_over_heads(call, b.wanted));
}

// In a striped division.
template <class T>
void move_and_run(const BackwardCall<T>& b) {
  using Wide = typename AttentionGradients<T>::Wide;
  const MovedCall<T> moved(b.call);
  const Tensor<T> out = moved.template there<T>(b.out, true);
  const Tensor<T> dout = moved.template there<T>(b.dout, true);
  const Tensor<float> logs = moved.template there<float>(b.log_sum_exp, true);
  AttentionGradients<T> wanted = b.wanted;
  Tensor<T> dq, dk, dv;
  Tensor<Wide> mask;
  const auto room = [](const auto& like, auto& tensor, auto& to) {
    if (!wants(to)) return;
    tensor = std::remove_cvref_t<decltype(tensor)>(like.shape());
    to = tensor;
  };
  room(moved.call().q, dq, wanted.q);
  room(moved.call().k, dk, wanted.k);
  room(moved.call().v, dv, wanted.v);
  if (const auto* whole = std::get_if<FloatMask<T>>(&moved.call().options.mask)) {
    room(*whole, mask, wanted.mask);
  }
  run_backward<T>({moved.call(), out.view(), dout.view(), logs.view(), wanted});
  if (wants(wanted.q)) moved.template back<T>(dq, true, b.wanted.q);
  if (wants(wanted.k)) moved.template back<T>(dk, false, b.wanted.k);
  if (wants(wanted.v)) moved.template back<T>(dv, false, b.wanted.v);
  if (!wants(wanted.mask)) return;
  const int rows = mask.rank() - 2;
  if (rows >= 0 && (mask.size(rows) != 1 || b.call.q_layout.length() == 1)) {
    moved.template back<Wide>(mask, true, b.wanted.mask, rows);
  } else {
    std::copy_n(mask.data(), mask.count(), b.wanted.mask.data());
  }
}

}  // namespace

std::string_view name_of(Form form) noexcept {
  return enum_name(form, {"auto", "ring", "gather", "ulysses"});
}

std::string_view name_of(Transport transport) noexcept {
  return enum_name(transport, {"unchanged", "float16", "bfloat16"});
}

template <AttentionElement T>
void attention(const Communicator& comm, std::type_identity_t<View<const T>> q,
               std::type_identity_t<View<const T>> k, std::type_identity_t<View<const T>> v,
               View<T> out, const AttentionOptions<std::type_identity_t<T>>& options,
               const Options& ranks, View<float> log_sum_exp) {
  const Call<T> call = check_call<T>(kForward, comm, q, k, v, options, ranks);
  const std::int64_t heads = call.all.heads_q, rows = q.size(2);
  check_result<T, T>(kForward, "out", call, out, heads, rows, call.v_dim);
  together(comm, [&] {
    check_output(std::string(kForward) + ".out", out);
    for (const auto& input : {q, k, v}) {
      if (!surely_overlap(input, out)) continue;
      throw Error(std::string(kForward) + ".out", "must not overlap q, k or v");
    }
    if (!is_given(log_sum_exp) && attention_detail::is_wanted(log_sum_exp)) {
      throw Error(
          std::string(kForward) + ".log_sum_exp",
          "must be [batch, heads_q, own positions], got " + log_sum_exp.shape().to_string());
    }
    if (!is_given(log_sum_exp)) return;
    const Shape wanted{call.all.batch, heads, rows};
    if (log_sum_exp.shape() == wanted) return;
    throw Error(std::string(kForward) + ".log_sum_exp",
                "must be " + wanted.to_string() + ", got " + log_sum_exp.shape().to_string());
  });
  const Form form = form_of(kForward, call);
  if (call.ranks.division != Division::striped || form == Form::ulysses) {
    return run_form(form, call, out, log_sum_exp);
  }
  const MovedCall<T> moved(call);
  const std::int64_t there = moved.call().q.size(2);
  Tensor<T> result(Shape{call.all.batch, heads, there, call.v_dim});
  Tensor<float> logs(Shape{call.all.batch, heads, there});
  run_form(form, moved.call(), result.view(), logs.view());
  moved.template back<T>(result, true, out);
  Tensor<float> spare;
  if (!is_given(log_sum_exp)) {
    spare = Tensor<float>(Shape{call.all.batch, heads, rows});
    log_sum_exp = spare.view();
  }
  moved.template back<float>(logs, true, log_sum_exp);
}

template <AttentionElement T>
void attention_backward(const Communicator& comm, std::type_identity_t<View<const T>> q,
                        std::type_identity_t<View<const T>> k,
                        std::type_identity_t<View<const T>> v,
                        std::type_identity_t<View<const T>> out,
                        std::type_identity_t<View<const T>> dout,
                        const AttentionGradients<T>& gradients,
                        const AttentionOptions<std::type_identity_t<T>>& options,
                        const Options& ranks, View<const float> log_sum_exp) {
  const Call<T> call = check_call<T>(kBackward, comm, q, k, v, options, ranks);
  const std::int64_t heads = call.all.heads_q, keys = call.all.kv_heads, rows = q.size(2);
  check_result<T, const T>(kBackward, "out", call, out, heads, rows, call.v_dim);
  check_result<T, const T>(kBackward, "dout", call, dout, heads, rows, call.v_dim);
  check_result<T, const float>(kBackward, "log_sum_exp", call, log_sum_exp, heads, rows, -1);
  check_gradients(call, gradients);
  if (wants(gradients.q)) {
    check_result<T, T>(kBackward, "gradients.q", call, gradients.q, heads, rows, q.size(3));
  }
  if (wants(gradients.k)) {
    check_result<T, T>(kBackward, "gradients.k", call, gradients.k, keys, k.size(2), k.size(3));
  }
  if (wants(gradients.v)) {
    check_result<T, T>(kBackward, "gradients.v", call, gradients.v, keys, v.size(2), v.size(3));
  }
  if (ranks.form != Form::automatic) form_of(kBackward, call);  // refuses what forms cannot do
  const BackwardCall<T> b{call, out, dout, log_sum_exp, gradients};
  if (ranks.division == Division::striped) return move_and_run(b);
  run_backward(b);
}

#define SEXTANT_INSTANTIATE(T)                                                                  \
  template void attention<T>(const Communicator&, View<const T>, View<const T>, View<const T>,  \
                             View<T>, const AttentionOptions<T>&, const Options&, View<float>); \
  template void attention_backward<T>(const Communicator&, View<const T>, View<const T>,        \
                                      View<const T>, View<const T>, View<const T>,              \
                                      const AttentionGradients<T>&, const AttentionOptions<T>&, \
                                      const Options&, View<const float>);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
SEXTANT_INSTANTIATE(float16)
SEXTANT_INSTANTIATE(bfloat16)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::ranks

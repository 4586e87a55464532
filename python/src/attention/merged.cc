// Self-Extend, dual chunk attention, and their gradients.
#include "attention/call_options.h"
#include "bindings.h"
#include "interpreter_lock.h"
#include "sextant/attention/dual_chunk.h"
#include "sextant/attention/self_extend.h"

namespace sextant::python {
namespace {

// Their names, the names of their two numbers, and the number of parts that have log-sum-exps.
struct SelfExtendCall {
  using Numbers = SelfExtend;
  static constexpr const char *kName = "self_extend_attention", *kBackward = "self_extend_backward";
  static constexpr const char *kFirst = "window", *kSecond = "group";
  static constexpr std::int64_t kParts = 2;
  static constexpr auto kAttention = &self_extend_attention;
  static constexpr auto kGradients = &self_extend_backward;
};
struct DualChunkCall {
  using Numbers = DualChunk;
  static constexpr const char *kName = "dual_chunk_attention", *kBackward = "dual_chunk_backward";
  static constexpr const char *kFirst = "chunk_size", *kSecond = "local_size";
  static constexpr std::int64_t kParts = 3;
  static constexpr auto kAttention = &dual_chunk_attention;
  static constexpr auto kGradients = &dual_chunk_backward;
};

template <class Call>
typename Call::Numbers numbers_of(std::string_view function, nb::handle first, nb::handle second) {
  return {Argument{first, function, Call::kFirst}.integer(),
          Argument{second, function, Call::kSecond}.integer()};
}

template <class Call>
nb::object merged(nb::handle q, nb::handle k, nb::handle v, nb::handle out, nb::handle first,
                  nb::handle second, const nb::dict& options) {
  constexpr std::string_view kName = Call::kName;
  const Inputs in(kName, options, q, k, v);
  in.q.expect(DType::float32, "");
  const auto numbers = numbers_of<Call>(kName, first, second);
  const CallOptions<float> call(kName, options, in);
  const Shape& rows = in.q.shape();
  OutputArray result({out, kName, "out"}, DType::float32,
                     in.axes.outside({rows[0], rows[1], rows[2], in.v.shape()[3]}), q);
  {
    const Unlocked released;
    Call::kAttention(in.q.view<float>(), in.k.view<float>(), in.v.view<float>(),
                     in.axes.inside(result.view<float>()), numbers, call.options, {});
  }
  return std::move(result).finished();
}

// {"dq", "dk", "dv"}, and "dsinks" where the call has sinks.
template <class Call>
nb::dict merged_backward(nb::handle dout, nb::handle q, nb::handle k, nb::handle v,
                         nb::handle first, nb::handle second, const nb::dict& options) {
  constexpr std::string_view kName = Call::kBackward;
  const Inputs in(kName, options, q, k, v);
  in.q.expect(DType::float32, "");
  InputArray gradient({dout, kName, "dout"});
  gradient.as_heads(in.axes);
  gradient.expect(DType::float32, ", as q");
  const auto numbers = numbers_of<Call>(kName, first, second);
  const CallOptions<float> call(kName, options, in);
  const nb::object none = nb::none();
  const auto room = [&](const char* name, const Shape& shape) {
    return OutputArray({none, kName, name}, DType::float32, shape, q);
  };
  OutputArray dq = room("dq", in.axes.outside(in.q.shape()));
  OutputArray dk = room("dk", in.axes.outside(in.k.shape()));
  OutputArray dv = room("dv", in.axes.outside(in.v.shape()));
  OutputArray dsinks = room("dsinks", {std::ssize(call.options.sinks)});
  {
    const Unlocked released;
    const View<const float> queries = in.q.view<float>(), keys = in.k.view<float>(),
                            values = in.v.view<float>();
    const Shape& rows = in.q.shape();
    Tensor<float> made({rows[0], rows[1], rows[2], in.v.shape()[3]});
    Tensor<float> logs({Call::kParts, rows[0], rows[1], rows[2]});
    Call::kAttention(queries, keys, values, made.view(), numbers, call.options, logs.view());
    AttentionGradients<float> wanted{.q = in.axes.inside(dq.view<float>()),
                                     .k = in.axes.inside(dk.view<float>()),
                                     .v = in.axes.inside(dv.view<float>()),
                                     .bias = {}};
    if (!call.options.sinks.empty()) wanted.sinks = dsinks.view<float>();
    Call::kGradients(queries, keys, values, made, gradient.view<float>(), wanted, numbers,
                     call.options, logs);
  }
  nb::dict arrays;
  arrays["dq"] = std::move(dq).finished();
  arrays["dk"] = std::move(dk).finished();
  arrays["dv"] = std::move(dv).finished();
  if (!call.options.sinks.empty()) arrays["dsinks"] = std::move(dsinks).finished();
  return arrays;
}

template <class Call>
void bind_call(nb::module_& module) {
  const std::string numbers = std::string(Call::kFirst) + ": object, " + Call::kSecond + ": object";
  const auto signature = [&](const char* name, const std::string& arrays, const char* result) {
    return "def " + std::string(name) + "(" + arrays + numbers +
           ", options: dict[str, typing.Any]) -> " + result;
  };
  module.def(
      Call::kName, &merged<Call>, nb::arg("q").none(), nb::arg("k").none(), nb::arg("v").none(),
      nb::arg("out").none(), nb::arg(Call::kFirst).none(), nb::arg(Call::kSecond).none(),
      nb::arg("options"),
      nb::sig(signature(Call::kName, "q: object, k: object, v: object, out: object, ", "typing.Any")
                  .c_str()));
  module.def(Call::kBackward, &merged_backward<Call>, nb::arg("dout").none(), nb::arg("q").none(),
             nb::arg("k").none(), nb::arg("v").none(), nb::arg(Call::kFirst).none(),
             nb::arg(Call::kSecond).none(), nb::arg("options"),
             nb::sig(signature(Call::kBackward, "dout: object, q: object, k: object, v: object, ",
                               "dict[str, typing.Any]")
                         .c_str()));
}

}  // namespace

void bind_merged(nb::module_& module) {
  bind_call<SelfExtendCall>(module);
  bind_call<DualChunkCall>(module);
}

}  // namespace sextant::python

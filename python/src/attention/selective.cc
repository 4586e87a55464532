// Selective attention and its gradients.
#include "sextant/attention/selective_attention.h"

#include "attention/call_options.h"
#include "bindings.h"
#include "interpreter_lock.h"

namespace sextant::python {
namespace {

SelectiveAttention selective_of(std::string_view function, nb::handle selection_head) {
  return {Argument{selection_head, function, "selection_head"}.integer()};
}

nb::object selective(nb::handle q, nb::handle k, nb::handle v, nb::handle out,
                     nb::handle selection_head, const nb::dict& options) {
  constexpr std::string_view kName = "selective_attention";
  const Inputs in(kName, options, q, k, v);
  in.q.expect(DType::float32, "");
  const SelectiveAttention numbers = selective_of(kName, selection_head);
  const CallOptions<float> call(kName, options, in);
  const Shape& rows = in.q.shape();
  OutputArray result({out, kName, "out"}, DType::float32,
                     in.axes.outside({rows[0], rows[1], rows[2], in.v.shape()[3]}), q);
  {
    const Unlocked released;
    selective_attention(in.q.view<float>(), in.k.view<float>(), in.v.view<float>(),
                        in.axes.inside(result.view<float>()), numbers, call.options);
  }
  return std::move(result).finished();
}

// {"dq", "dk", "dv"}, and "dsinks" where the call has sinks.
nb::dict selective_backward(nb::handle dout, nb::handle q, nb::handle k, nb::handle v,
                            nb::handle selection_head, const nb::dict& options) {
  constexpr std::string_view kName = "selective_attention_backward";
  const Inputs in(kName, options, q, k, v);
  in.q.expect(DType::float32, "");
  InputArray gradient({dout, kName, "dout"});
  gradient.as_heads(in.axes);
  gradient.expect(DType::float32, ", as q");
  const SelectiveAttention numbers = selective_of(kName, selection_head);
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
    Tensor<float> logs({rows[0], rows[1], rows[2]});
    selective_attention(queries, keys, values, made.view(), numbers, call.options, logs.view());
    AttentionGradients<float> wanted{.q = in.axes.inside(dq.view<float>()),
                                     .k = in.axes.inside(dk.view<float>()),
                                     .v = in.axes.inside(dv.view<float>()),
                                     .bias = {}};
    if (!call.options.sinks.empty()) wanted.sinks = dsinks.view<float>();
    selective_attention_backward(queries, keys, values, made, gradient.view<float>(), wanted,
                                 numbers, call.options, logs);
  }
  nb::dict arrays;
  arrays["dq"] = std::move(dq).finished();
  arrays["dk"] = std::move(dk).finished();
  arrays["dv"] = std::move(dv).finished();
  if (!call.options.sinks.empty()) arrays["dsinks"] = std::move(dsinks).finished();
  return arrays;
}

}  // namespace

void bind_selective(nb::module_& module) {
  module.def("selective_attention", &selective, nb::arg("q").none(), nb::arg("k").none(),
             nb::arg("v").none(), nb::arg("out").none(), nb::arg("selection_head").none(),
             nb::arg("options"),
             nb::sig("def selective_attention(q: object, k: object, v: object, out: object, "
                     "selection_head: object, options: dict[str, typing.Any]) -> typing.Any"));
  module.def("selective_attention_backward", &selective_backward, nb::arg("dout").none(),
             nb::arg("q").none(), nb::arg("k").none(), nb::arg("v").none(),
             nb::arg("selection_head").none(), nb::arg("options"),
             nb::sig("def selective_attention_backward(dout: object, q: object, k: object, "
                     "v: object, selection_head: object, options: dict[str, typing.Any]) -> "
                     "dict[str, typing.Any]"));
}

}  // namespace sextant::python

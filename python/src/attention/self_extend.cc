// Self-Extend and its gradients.
#include "sextant/attention/self_extend.h"

#include "attention/call_options.h"
#include "bindings.h"
#include "interpreter_lock.h"

namespace sextant::python {
namespace {

SelfExtend extend_of(std::string_view function, nb::handle window, nb::handle group) {
  return {Argument{window, function, "window"}.integer(),
          Argument{group, function, "group"}.integer()};
}

nb::object extended(nb::handle q, nb::handle k, nb::handle v, nb::handle out, nb::handle window,
                    nb::handle group, const nb::dict& options) {
  constexpr std::string_view kName = "self_extend_attention";
  const Inputs in(kName, options, q, k, v);
  in.q.expect(DType::float32, "");
  const SelfExtend extend = extend_of(kName, window, group);
  const CallOptions<float> call(kName, options, in);
  const Shape& rows = in.q.shape();
  OutputArray result({out, kName, "out"}, DType::float32,
                     in.axes.outside({rows[0], rows[1], rows[2], in.v.shape()[3]}), q);
  {
    const Unlocked released;
    self_extend_attention(in.q.view<float>(), in.k.view<float>(), in.v.view<float>(),
                          in.axes.inside(result.view<float>()), extend, call.options);
  }
  return std::move(result).finished();
}

// {"dq", "dk", "dv"}, and "dsinks" where the call has sinks.
nb::dict extended_backward(nb::handle dout, nb::handle q, nb::handle k, nb::handle v,
                           nb::handle window, nb::handle group, const nb::dict& options) {
  constexpr std::string_view kName = "self_extend_backward";
  const Inputs in(kName, options, q, k, v);
  in.q.expect(DType::float32, "");
  InputArray gradient({dout, kName, "dout"});
  gradient.as_heads(in.axes);
  gradient.expect(DType::float32, ", as q");
  const SelfExtend extend = extend_of(kName, window, group);
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
    Tensor<float> logs({2, rows[0], rows[1], rows[2]});
    self_extend_attention(queries, keys, values, made.view(), extend, call.options, logs.view());
    AttentionGradients<float> wanted{.q = in.axes.inside(dq.view<float>()),
                                     .k = in.axes.inside(dk.view<float>()),
                                     .v = in.axes.inside(dv.view<float>()),
                                     .bias = {}};
    if (!call.options.sinks.empty()) wanted.sinks = dsinks.view<float>();
    self_extend_backward(queries, keys, values, made, gradient.view<float>(), wanted, extend,
                         call.options, logs);
  }
  nb::dict arrays;
  arrays["dq"] = std::move(dq).finished();
  arrays["dk"] = std::move(dk).finished();
  arrays["dv"] = std::move(dv).finished();
  if (!call.options.sinks.empty()) arrays["dsinks"] = std::move(dsinks).finished();
  return arrays;
}

}  // namespace

void bind_self_extend(nb::module_& module) {
  module.def("self_extend_attention", &extended, nb::arg("q").none(), nb::arg("k").none(),
             nb::arg("v").none(), nb::arg("out").none(), nb::arg("window").none(),
             nb::arg("group").none(), nb::arg("options"),
             nb::sig("def self_extend_attention(q: object, k: object, v: object, out: object, "
                     "window: object, group: object, options: dict[str, typing.Any]) -> "
                     "typing.Any"));
  module.def("self_extend_backward", &extended_backward, nb::arg("dout").none(),
             nb::arg("q").none(), nb::arg("k").none(), nb::arg("v").none(),
             nb::arg("window").none(), nb::arg("group").none(), nb::arg("options"),
             nb::sig("def self_extend_backward(dout: object, q: object, k: object, v: object, "
                     "window: object, group: object, options: dict[str, typing.Any]) -> "
                     "dict[str, typing.Any]"));
}

}  // namespace sextant::python

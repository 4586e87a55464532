// Stick-breaking attention and its gradients.
#include "sextant/attention/stick_breaking.h"

#include "attention/call_options.h"
#include "bindings.h"
#include "interpreter_lock.h"

namespace sextant::python {
namespace {

constexpr const char* kStickName = "stick_breaking_attention";
constexpr const char* kStickBackward = "stick_breaking_backward";

StickBreaking stick_of(std::string_view function, nb::handle current) {
  return {.current = Argument{current, function, "current"}.flag()};
}

nb::object break_stick(nb::handle q, nb::handle k, nb::handle v, nb::handle out, nb::handle current,
                       const nb::dict& options) {
  const Inputs in(kStickName, options, q, k, v);
  in.q.expect(DType::float32, "");
  const StickBreaking stick = stick_of(kStickName, current);
  const CallOptions<float> call(kStickName, options, in);
  const Shape& rows = in.q.shape();
  OutputArray result({out, kStickName, "out"}, DType::float32,
                     in.axes.outside({rows[0], rows[1], rows[2], in.v.shape()[3]}), q);
  {
    const Unlocked released;
    stick_breaking_attention(in.q.view<float>(), in.k.view<float>(), in.v.view<float>(),
                             in.axes.inside(result.view<float>()), stick, call.options);
  }
  return std::move(result).finished();
}

nb::dict stick_gradients(nb::handle dout, nb::handle q, nb::handle k, nb::handle v,
                         nb::handle current, const nb::dict& options) {
  const Inputs in(kStickBackward, options, q, k, v);
  in.q.expect(DType::float32, "");
  InputArray gradient({dout, kStickBackward, "dout"});
  gradient.as_heads(in.axes);
  gradient.expect(DType::float32, ", as q");
  const StickBreaking stick = stick_of(kStickBackward, current);
  const CallOptions<float> call(kStickBackward, options, in);
  const nb::object none = nb::none();
  const auto room = [&](const char* name, const Shape& shape) {
    return OutputArray({none, kStickBackward, name}, DType::float32, in.axes.outside(shape), q);
  };
  OutputArray dq = room("dq", in.q.shape()), dk = room("dk", in.k.shape()),
              dv = room("dv", in.v.shape());
  {
    const Unlocked released;
    const View<const float> queries = in.q.view<float>(), keys = in.k.view<float>(),
                            values = in.v.view<float>();
    const Shape& rows = in.q.shape();
    Tensor<float> made({rows[0], rows[1], rows[2], in.v.shape()[3]});
    Tensor<float> log_sums({rows[0], rows[1], rows[2]});
    stick_breaking_attention(queries, keys, values, made.view(), stick, call.options,
                             log_sums.view());
    stick_breaking_backward(queries, keys, values, gradient.view<float>(),
                            {.q = in.axes.inside(dq.view<float>()),
                             .k = in.axes.inside(dk.view<float>()),
                             .v = in.axes.inside(dv.view<float>()),
                             .bias = {}},
                            stick, call.options, log_sums);
  }
  nb::dict arrays;
  arrays["dq"] = std::move(dq).finished();
  arrays["dk"] = std::move(dk).finished();
  arrays["dv"] = std::move(dv).finished();
  return arrays;
}

}  // namespace

void bind_stick_breaking(nb::module_& module) {
  module.def(kStickName, &break_stick, nb::arg("q").none(), nb::arg("k").none(),
             nb::arg("v").none(), nb::arg("out").none(), nb::arg("current").none(),
             nb::arg("options"),
             nb::sig("def stick_breaking_attention(q: object, k: object, v: object, out: object, "
                     "current: object, options: dict[str, typing.Any]) -> typing.Any"));
  module.def(kStickBackward, &stick_gradients, nb::arg("dout").none(), nb::arg("q").none(),
             nb::arg("k").none(), nb::arg("v").none(), nb::arg("current").none(),
             nb::arg("options"),
             nb::sig("def stick_breaking_backward(dout: object, q: object, k: object, v: object, "
                     "current: object, options: dict[str, typing.Any]) -> dict[str, typing.Any]"));
}

}  // namespace sextant::python

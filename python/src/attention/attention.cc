// The operator and its plan.
#include <nanobind/stl/string.h>

#include "attention/call_options.h"
#include "bindings.h"
#include "interpreter_lock.h"
#include "sextant/attention/plan.h"

namespace sextant::python {
namespace {

nb::object attend(nb::handle q, nb::handle k, nb::handle v, nb::handle out, nb::handle log_sum_exp,
                  const nb::dict& options, nb::handle return_sums) {
  const bool both = Argument{return_sums, "attention", "return_log_sum_exp"}.flag();
  const Inputs in("attention", options, q, k, v);
  return with_float(in.q, [&](auto type) {
    using T = typename decltype(type)::type;
    const CallOptions<T> call("attention", options, in);
    const Shape rows{in.q.shape()[0], in.q.shape()[1], in.q.shape()[2]};
    OutputArray result({out, "attention", "out"}, dtype_of<T>,
                       in.axes.outside({rows[0], rows[1], rows[2], in.v.shape()[3]}), q);
    View<float> sums;
    std::optional<OutputArray> kept_sums;
    if (both || !log_sum_exp.is_none()) {
      kept_sums.emplace(Argument{log_sum_exp, "attention", "log_sum_exp"}, DType::float32,
                        in.axes.without_lead(rows), q);
      sums = HeadAxes::with_lead(kept_sums->template view<float>(), 3);
    }
    {
      const Unlocked released;
      attention<T>(in.q.view<T>(), in.k.view<T>(), in.v.view<T>(), in.axes.inside(result.view<T>()),
                   call.options, sums);
    }
    call.raise();
    return finished(std::move(result), std::move(kept_sums), both);
  });
}

AttentionPlan plan(nb::handle q, nb::handle k, nb::handle v, const nb::dict& options) {
  const Inputs in("plan", options, q, k, v);
  return with_float(in.q, [&](auto type) {
    using T = typename decltype(type)::type;
    const CallOptions<T> call("plan", options, in);
    return attention_plan<T>(in.q.view<T>(), in.k.view<T>(), in.v.view<T>(), call.options);
  });
}

}  // namespace

void bind_attention(nb::module_& module) {
  module.def("attention", &attend, nb::arg("q").none(), nb::arg("k").none(), nb::arg("v").none(),
             nb::arg("out").none(), nb::arg("log_sum_exp").none(), nb::arg("options"),
             nb::arg("return_log_sum_exp").none() = false,
             nb::sig("def attention(q: object, k: object, v: object, out: object, log_sum_exp: "
                     "object, options: dict[str, typing.Any], return_log_sum_exp: object = False) "
                     "-> typing.Any"));
  module.def("plan", &plan, nb::arg("q").none(), nb::arg("k").none(), nb::arg("v").none(),
             nb::arg("options"),
             nb::sig("def plan(q: object, k: object, v: object, options: dict[str, typing.Any]) "
                     "-> AttentionPlan"));
  nb::class_<AttentionPlan>(module, "AttentionPlan",
                            "What a call of attention() will do: kernel, tiles, threads, memory.")
      .def_ro("kernel", &AttentionPlan::kernel)
      .def_ro("arithmetic", &AttentionPlan::arithmetic)
      .def_ro("target", &AttentionPlan::target, "The instruction set.")
      .def_ro("tasks", &AttentionPlan::tasks)
      .def_ro("threads", &AttentionPlan::threads)
      .def_ro("scratch_bytes", &AttentionPlan::scratch_bytes,
              "Of all threads together, kept for later calls.")
      .def("explain", &AttentionPlan::explain, "A few lines of text.")
      .def("__str__", &AttentionPlan::explain)
      .def("__repr__", &AttentionPlan::explain);
}

}  // namespace sextant::python

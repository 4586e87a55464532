// Attention weights, and statistics of those that are too large to store.
#include "attention/call_options.h"
#include "bindings.h"
#include "interpreter_lock.h"
#include "sextant/attention/statistics.h"

namespace sextant::python {
namespace {

nb::object weights(nb::handle q, nb::handle k, nb::handle stage, nb::handle rows, nb::handle heads,
                   const nb::dict& options) {
  constexpr std::string_view kName = "attention_weights";
  const Inputs in(kName, options, q, k);
  WeightsOptions chosen{.stage = Argument{stage, kName, "stage"}.choice<Stage>()};
  // Empty would mean all; no rows at all are a mistake.
  const auto list = [&](nb::handle given, const char* name) -> std::vector<std::int64_t> {
    if (given.is_none()) return {};
    const Argument argument{given, kName, name};
    std::vector<std::int64_t> numbers = argument.integers();
    if (numbers.empty()) throw Error(argument.where(), "must not be empty; None: all");
    return numbers;
  };
  chosen.rows = list(rows, "rows");
  chosen.heads = list(heads, "heads");
  if (in.axes.rank == 2 && !heads.is_none()) {
    throw Error("attention_weights.heads", "must not be given for q [length, head_dim]");
  }
  return with_float(in.q, [&](auto type) {
    using T = typename decltype(type)::type;
    const CallOptions<T> call(kName, options, in);
    auto result = unlocked(
        [&] { return attention_weights<T>(in.q.view<T>(), in.k.view<T>(), call.options, chosen); });
    call.raise();
    const Shape shape = in.axes.without_lead(result.shape());
    return to_python(std::move(result), shape, q);
  });
}

nb::dict statistics(nb::handle q, nb::handle k, nb::handle top, const nb::dict& options) {
  constexpr std::string_view kName = "attention_statistics";
  const Inputs in(kName, options, q, k);
  const StatisticsOptions wanted{.top = Argument{top, kName, "top"}.integer()};
  return with_float(in.q, [&](auto type) {
    using T = typename decltype(type)::type;
    const CallOptions<T> call(kName, options, in);
    auto result = unlocked([&] {
      return attention_statistics<T>(in.q.view<T>(), in.k.view<T>(), call.options, wanted);
    });
    call.raise();
    nb::dict arrays;
    const auto add = [&](const char* name, auto& tensor) {
      const Shape shape = in.axes.without_lead(tensor.shape());
      arrays[name] = to_python(std::move(tensor), shape, q);
    };
    add("entropy", result.entropy);
    add("log_sum_exp", result.log_sum_exp);
    add("top_keys", result.top_keys);
    add("top_weights", result.top_weights);
    add("mass", result.mass);
    return arrays;
  });
}

}  // namespace

void bind_inspect(nb::module_& module) {
  module.def("attention_weights", &weights, nb::arg("q").none(), nb::arg("k").none(),
             nb::arg("stage").none(), nb::arg("rows").none(), nb::arg("heads").none(),
             nb::arg("options"),
             nb::sig("def attention_weights(q: object, k: object, stage: object, rows: object, "
                     "heads: object, options: dict[str, typing.Any]) -> typing.Any"));
  module.def("attention_statistics", &statistics,
             nb::sig("def attention_statistics(q: object, k: object, top: object, options: "
                     "dict[str, typing.Any]) -> dict[str, typing.Any]"));
}

}  // namespace sextant::python

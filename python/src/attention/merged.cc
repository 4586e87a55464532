// Operators made of calls of attention(), and their gradients.
#include "attention/call_options.h"
#include "bindings.h"
#include "interpreter_lock.h"
#include "sextant/attention/dual_chunk.h"
#include "sextant/attention/path_attention.h"
#include "sextant/attention/selective_attention.h"
#include "sextant/attention/self_extend.h"
#include "sextant/attention/stick_breaking.h"

namespace sextant::python {
namespace {

// An operator made of calls of attention(): its names, its own numbers from a dict by name, and the
// shape of its log-sum-exps. Its gradients are those of q, k, v and sinks, and of kMore if there
// are any.
template <class Numbers_, Shape (*kLogs)(const Shape& rows)>
struct CallOf {
  using Numbers = Numbers_;
  static Shape logs(const Shape& rows) { return kLogs(rows); }
};
Argument number_of(std::string_view function, const nb::dict& numbers, const char* name) {
  return {numbers[name], function, name};
}
template <std::int64_t kParts>
Shape logs_of_parts(const Shape& rows) {
  return {kParts, rows[0], rows[1], rows[2]};
}
Shape logs_of_rows(const Shape& rows) { return {rows[0], rows[1], rows[2]}; }

struct SelfExtendCall : CallOf<SelfExtend, logs_of_parts<2>> {
  static constexpr const char *kName = "self_extend_attention", *kBackward = "self_extend_backward";
  static constexpr auto kAttention = &self_extend_attention;
  static constexpr auto kGradients = &self_extend_backward;
  static Numbers read(std::string_view function, const nb::dict& numbers, const Inputs& /*in*/) {
    return {number_of(function, numbers, "window").integer(),
            number_of(function, numbers, "group").integer()};
  }
};
struct DualChunkCall : CallOf<DualChunk, logs_of_parts<3>> {
  static constexpr const char *kName = "dual_chunk_attention", *kBackward = "dual_chunk_backward";
  static constexpr auto kAttention = &dual_chunk_attention;
  static constexpr auto kGradients = &dual_chunk_backward;
  static Numbers read(std::string_view function, const nb::dict& numbers, const Inputs& /*in*/) {
    return {number_of(function, numbers, "chunk_size").integer(),
            number_of(function, numbers, "local_size").integer()};
  }
};
struct SelectiveCall : CallOf<SelectiveAttention, logs_of_rows> {
  static constexpr const char *kName = "selective_attention",
                              *kBackward = "selective_attention_backward";
  static constexpr auto kAttention = &selective_attention;
  static constexpr auto kGradients = &selective_attention_backward;
  static Numbers read(std::string_view function, const nb::dict& numbers, const Inputs& /*in*/) {
    return {number_of(function, numbers, "selection_head").integer()};
  }
};
struct StickBreakingCall : CallOf<StickBreaking, logs_of_rows> {
  static constexpr const char *kName = "stick_breaking_attention",
                              *kBackward = "stick_breaking_backward";
  static constexpr auto kAttention = &stick_breaking_attention;
  static constexpr auto kGradients = [](auto q, auto k, auto v, const Tensor<float>& /*out*/,
                                        const auto&... rest) {
    stick_breaking_backward(q, k, v, rest...);
  };
  static Numbers read(std::string_view function, const nb::dict& numbers, const Inputs& /*in*/) {
    return {.current = number_of(function, numbers, "current").flag()};
  }
};

// w and beta as the caller has them; beta has the axes of a log-sum-exp.
struct PathArrays {
  InputArray w, beta;

  PathAttention views() const {
    return {.w = w.view<float>(), .beta = HeadAxes::with_lead(beta.view<float>(), 3)};
  }
};
struct PathCall : CallOf<PathArrays, logs_of_rows> {
  static constexpr const char *kName = "path_attention", *kBackward = "path_attention_backward";
  static constexpr const char* kMore[] = {"dw", "dbeta"};
  static constexpr auto kAttention = [](auto q, auto k, auto v, auto out, const PathArrays& arrays,
                                        const AttentionOptions<float>& options,
                                        View<float> log_sum_exps) {
    path_attention(q, k, v, out, arrays.views(), options, log_sum_exps);
  };
  static Numbers read(std::string_view function, const nb::dict& numbers, const Inputs& in) {
    Numbers read{.w = InputArray(number_of(function, numbers, "w")),
                 .beta = InputArray(number_of(function, numbers, "beta"))};
    read.w.as_heads(in.axes);
    for (const InputArray* array : {&read.w, &read.beta}) array->expect(DType::float32, ", as q");
    // Without the axes that the others lack.
    constexpr const char* kAxes[] = {"[length]", "[kv_heads, length]", "[batch, kv_heads, length]"};
    read.beta.expect_rank(in.axes.rank - 1, kAxes[in.axes.rank - 2]);
    return read;
  }
  static std::vector<OutputArray> more(const Numbers& arrays, const Inputs& in, nb::handle like) {
    const nb::object none = nb::none();
    std::vector<OutputArray> made;
    made.emplace_back(Argument{none, kBackward, "dw"}, DType::float32,
                      in.axes.outside(arrays.w.shape()), like);
    made.emplace_back(Argument{none, kBackward, "dbeta"}, DType::float32, arrays.beta.shape(),
                      like);
    return made;
  }
  static void gradients(View<const float> q, View<const float> k, View<const float> v,
                        View<const float> out, View<const float> dout,
                        const AttentionGradients<float>& wanted, const Inputs& in,
                        const std::vector<OutputArray>& more, const Numbers& arrays,
                        const AttentionOptions<float>& options) {
    const PathGradients of_path{.w = in.axes.inside(more[0].view<float>()),
                                .beta = HeadAxes::with_lead(more[1].view<float>(), 3)};
    path_attention_backward(q, k, v, out, dout, wanted, of_path, arrays.views(), options);
  }
};

template <class Call>
nb::object merged(nb::handle q, nb::handle k, nb::handle v, nb::handle out, const nb::dict& given,
                  const nb::dict& options) {
  constexpr std::string_view kName = Call::kName;
  const Inputs in(kName, options, q, k, v);
  in.q.expect(DType::float32, "");
  const auto numbers = Call::read(kName, given, in);
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

template <class Call>
concept HasMore = requires {
  Call::kMore;
};

// {"dq", "dk", "dv"}, "dsinks" where the call has sinks, and the operator's own.
template <class Call>
nb::dict merged_backward(nb::handle dout, nb::handle q, nb::handle k, nb::handle v,
                         const nb::dict& given, const nb::dict& options) {
  constexpr std::string_view kName = Call::kBackward;
  const Inputs in(kName, options, q, k, v);
  in.q.expect(DType::float32, "");
  InputArray gradient({dout, kName, "dout"});
  gradient.as_heads(in.axes);
  gradient.expect(DType::float32, ", as q");
  const auto numbers = Call::read(kName, given, in);
  const CallOptions<float> call(kName, options, in);
  const nb::object none = nb::none();
  const auto room = [&](const char* name, const Shape& shape) {
    return OutputArray({none, kName, name}, DType::float32, shape, q);
  };
  OutputArray dq = room("dq", in.axes.outside(in.q.shape()));
  OutputArray dk = room("dk", in.axes.outside(in.k.shape()));
  OutputArray dv = room("dv", in.axes.outside(in.v.shape()));
  OutputArray dsinks = room("dsinks", {std::ssize(call.options.sinks)});
  std::vector<OutputArray> more;
  if constexpr (HasMore<Call>) more = Call::more(numbers, in, q);
  {
    const Unlocked released;
    const View<const float> queries = in.q.view<float>(), keys = in.k.view<float>(),
                            values = in.v.view<float>();
    const Shape& rows = in.q.shape();
    Tensor<float> made({rows[0], rows[1], rows[2], in.v.shape()[3]});
    Tensor<float> logs(Call::logs(rows));
    Call::kAttention(queries, keys, values, made.view(), numbers, call.options, logs.view());
    AttentionGradients<float> wanted{.q = in.axes.inside(dq.view<float>()),
                                     .k = in.axes.inside(dk.view<float>()),
                                     .v = in.axes.inside(dv.view<float>()),
                                     .bias = {}};
    if (!call.options.sinks.empty()) wanted.sinks = dsinks.view<float>();
    if constexpr (HasMore<Call>) {
      Call::gradients(queries, keys, values, made, gradient.view<float>(), wanted, in, more,
                      numbers, call.options);
    } else {
      Call::kGradients(queries, keys, values, made, gradient.view<float>(), wanted, numbers,
                       call.options, logs);
    }
  }
  nb::dict arrays;
  arrays["dq"] = std::move(dq).finished();
  arrays["dk"] = std::move(dk).finished();
  arrays["dv"] = std::move(dv).finished();
  if (!call.options.sinks.empty()) arrays["dsinks"] = std::move(dsinks).finished();
  if constexpr (HasMore<Call>) {
    for (std::size_t n = 0; n < more.size(); ++n) {
      arrays[Call::kMore[n]] = std::move(more[n]).finished();
    }
  }
  return arrays;
}

template <class Call>
void bind_call(nb::module_& module) {
  const auto signature = [&](const char* name, const std::string& arrays, const char* result) {
    return "def " + std::string(name) + "(" + arrays +
           "numbers: dict[str, typing.Any], options: dict[str, typing.Any]) -> " + result;
  };
  module.def(
      Call::kName, &merged<Call>, nb::arg("q").none(), nb::arg("k").none(), nb::arg("v").none(),
      nb::arg("out").none(), nb::arg("numbers"), nb::arg("options"),
      nb::sig(signature(Call::kName, "q: object, k: object, v: object, out: object, ", "typing.Any")
                  .c_str()));
  module.def(Call::kBackward, &merged_backward<Call>, nb::arg("dout").none(), nb::arg("q").none(),
             nb::arg("k").none(), nb::arg("v").none(), nb::arg("numbers"), nb::arg("options"),
             nb::sig(signature(Call::kBackward, "dout: object, q: object, k: object, v: object, ",
                               "dict[str, typing.Any]")
                         .c_str()));
}

}  // namespace

void bind_merged(nb::module_& module) {
  bind_call<SelfExtendCall>(module);
  bind_call<DualChunkCall>(module);
  bind_call<SelectiveCall>(module);
  bind_call<StickBreakingCall>(module);
  bind_call<PathCall>(module);
}

}  // namespace sextant::python

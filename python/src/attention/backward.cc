// Gradients of the operator.
#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "attention/call_options.h"
#include "bindings.h"
#include "interpreter_lock.h"
#include "sextant/attention/backward.h"

namespace sextant::python {
namespace {

// Makes new arrays for the gradients of the call's options; gradients without an option, or not in
// `wanted`, a frozenset of names, are absent. None: all.
template <class T>
class CallGradients {
 public:
  using Wide = typename AttentionGradients<T>::Wide;

  CallGradients(const Inputs& in, const CallOptions<T>& call, nb::handle like, nb::handle wanted) {
    if (!wanted.is_none()) {
      wanted_ = Argument{wanted, "attention_backward", "wanted"}.as<nb::frozenset>("a frozenset");
    }
    targets.q = add_heads("dq", in.q.shape(), in.axes, like);
    targets.k = add_heads("dk", in.k.shape(), in.axes, like);
    targets.v = add_heads("dv", in.v.shape(), in.axes, like);
    const AttentionOptions<T>& options = call.options;
    if (options.bias != nullptr && options.bias->has_table()) {
      targets.bias.values = add<Wide>("dbias", options.bias->values.shape(), like);
    }
    if (options.bias != nullptr && !options.bias->slopes.empty()) {
      targets.bias.slopes = add<Wide>("dslopes", count(options.bias->slopes.size()), like);
    }
    if (const auto* mask = std::get_if<FloatMask<T>>(&options.mask)) {
      targets.mask = add<Wide>("dmask", mask->shape(), like);
    }
    if (!options.sinks.empty()) {
      targets.sinks = add<Wide>("dsinks", count(options.sinks.size()), like);
    }
    for (const ScoreTerm* term : options.terms) {
      const std::int64_t parameters = term->needs().parameters;
      targets.terms.emplace_back(parameters > 0 ? add<double>("dterms", {parameters}, like)
                                                : View<double>());
    }
  }

  // By name, when they are computed; of terms a list, None for those without parameters.
  nb::dict finished() && {
    nb::dict arrays;
    nb::list terms;
    const auto is_of_term = [](const auto& made) {
      return std::string_view(made.first) == "dterms";
    };
    const bool any_term = std::ranges::any_of(made_, is_of_term);
    auto next = made_.begin();
    for (; next != made_.end() && !is_of_term(*next); ++next) {
      arrays[next->first] = std::move(next->second).finished();
    }
    for (std::size_t n = 0; any_term && n < targets.terms.size(); ++n) {
      const bool learns = targets.terms[n].count() > 0;
      terms.append(learns ? std::move((next++)->second).finished() : nb::none());
    }
    if (any_term) arrays["dterms"] = terms;
    return arrays;
  }

  AttentionGradients<T> targets;

 private:
  static Shape count(std::size_t size) { return {static_cast<std::int64_t>(size)}; }
  View<T> add_heads(const char* name, const Shape& shape, const HeadAxes& axes, nb::handle like) {
    const View<T> view = add<T>(name, axes.outside(shape), like);
    return view.rank() == axes.rank ? axes.inside(view) : view;  // else it is not wanted
  }
  template <class E>
  View<E> add(const char* name, const Shape& shape, nb::handle like) {
    if (wanted_ && !wanted_->contains(name)) return {};
    const nb::object none = nb::none();
    OutputArray& array = made_
                             .emplace_back(name, OutputArray({none, "attention_backward", name},
                                                             dtype_of<E>, shape, like))
                             .second;
    return array.view<E>();
  }

  std::optional<nb::frozenset> wanted_;  // absent: all
  std::vector<std::pair<const char*, OutputArray>> made_;
};

// The output and log-sum-exp of the forward pass: the caller's, or computed here.
template <class T>
class Forward {
 public:
  Forward(const Inputs& in, nb::handle given_out, nb::handle log_sum_exp) {
    const Shape& q = in.q.shape();
    const Argument out{given_out, "attention_backward", "out"};
    if (given_out.is_none()) {
      if (!log_sum_exp.is_none()) {
        throw Error("attention_backward.log_sum_exp",
                    "must be given together with out, both of the same forward pass");
      }
      made_ = Tensor<T>::uninitialized({q[0], q[1], q[2], in.v.shape()[3]});
      made_sums_ = Tensor<float>::uninitialized({q[0], q[1], q[2]});
    } else {
      given_ = InputArray(out);
      given_.expect(dtype_of<T>, ", as q");
      given_.as_heads(in.axes);
      if (log_sum_exp.is_none()) return;
      sums_ = InputArray({log_sum_exp, "attention_backward", "log_sum_exp"});
      sums_.expect(DType::float32, "");
    }
  }
  // Without the interpreter's lock.
  void run(const Inputs& in, const AttentionOptions<T>& options) {
    if (given_.has_value()) return;
    attention<T>(in.q.view<T>(), in.k.view<T>(), in.v.view<T>(), made_, options, made_sums_.view());
  }
  View<const T> out() const { return given_.has_value() ? given_.view<T>() : View<const T>(made_); }
  View<const float> log_sum_exp() const {
    if (sums_.has_value()) return HeadAxes::with_lead(sums_.view<float>(), 3);
    return given_.has_value() ? View<const float>() : View<const float>(made_sums_);
  }

 private:
  Tensor<T> made_;
  Tensor<float> made_sums_;
  InputArray given_, sums_;
};

nb::dict attend_backward(nb::handle dout, nb::handle q, nb::handle k, nb::handle v, nb::handle out,
                         nb::handle log_sum_exp, const nb::dict& options, nb::handle wanted) {
  constexpr std::string_view kName = "attention_backward";
  const Inputs in(kName, options, q, k, v);
  InputArray gradient({dout, kName, "dout"});
  gradient.as_heads(in.axes);
  gradient.expect(in.q.dtype(), ", as q");
  return with_float(in.q, [&](auto type) {
    using T = typename decltype(type)::type;
    const CallOptions<T> call(kName, options, in);
    CallGradients<T> gradients(in, call, q, wanted);
    Forward<T> forward(in, out, log_sum_exp);
    {
      const Unlocked released;
      forward.run(in, call.options);
      attention_backward<T>(in.q.view<T>(), in.k.view<T>(), in.v.view<T>(), forward.out(),
                            gradient.view<T>(), gradients.targets, call.options,
                            forward.log_sum_exp());
    }
    call.raise();
    return std::move(gradients).finished();
  });
}

}  // namespace

void bind_backward(nb::module_& module) {
  module.def("attention_backward", &attend_backward, nb::arg("dout").none(), nb::arg("q").none(),
             nb::arg("k").none(), nb::arg("v").none(), nb::arg("out").none(),
             nb::arg("log_sum_exp").none(), nb::arg("options"),
             nb::arg("wanted").none() = nb::none(),
             nb::sig("def attention_backward(dout: object, q: object, k: object, v: object, "
                     "out: object, log_sum_exp: object, options: dict[str, typing.Any], wanted: "
                     "frozenset[str] | None = None) -> dict[str, typing.Any]"));
}

}  // namespace sextant::python

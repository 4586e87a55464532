// Checks the arguments of attention_backward().
#include "attention/backward/arguments.h"

#include <string>
#include <utility>
#include <variant>

#include "attention/call/input_arrays.h"
#include "attention/call/refuse.h"

namespace sextant::attention_detail {
namespace {

void check_input(std::string_view function, std::string_view argument, const AnyView& view,
                 const Shape& wanted) {
  check_shape(function, argument, view, wanted);
  check_memory(name_in(function, argument), view);
}

// Checks the shape of each gradient, and that it does not overlap the other arrays.
class GradientChecker {
 public:
  GradientChecker(std::string_view function, CallArrays arrays)
      : function_(function), arrays_(std::move(arrays)) {}

  // `argument` is "gradients.<name>".
  void operator()(std::string_view argument, const AnyOutput& gradient, const Shape& wanted) {
    if (!gradient.is_given()) return;
    check_shape(function_, argument, gradient, wanted);
    arrays_.add_output(argument, gradient);
  }

 private:
  std::string_view function_;
  CallArrays arrays_;
};

[[noreturn]] void refuse_gradient(std::string_view function, std::string_view name,
                                  std::string_view needs) {
  refuse(function, "gradients." + std::string(name), "must be given with " + std::string(needs));
}

}  // namespace

bool BackwardArguments::mask_is_shared() const noexcept {
  if (!wants_mask()) return false;
  const bool over_batch = mask_strides[0] == 0 && scores.batch > 1;
  const bool over_heads = mask_strides[1] == 0 && scores.heads_q > 1;
  const bool over_segments =
      mask_strides[2] == 0 && mask_strides[3] == 0 && scores.segment_count() > 1;
  return over_batch || over_heads || over_segments;
}

template <class M>
BackwardArguments check_backward(std::string_view function, const AnyView& q, const AnyView& k,
                                 const AnyView& v, const AnyView& out, const AnyView& dout,
                                 const WantedGradients& gradients,
                                 const AttentionOptionsOf<M>& options,
                                 View<const float> log_sum_exp) {
  BackwardArguments b{.scores = check_scores(function, q, k, options),
                      .v = v,
                      .out = out,
                      .dout = dout,
                      .wanted = gradients,
                      .log_sum_exp = {}};
  const AttentionCall& a = b.scores;
  check_v(function, a, v);
  const Shape output{a.batch, a.heads_q, a.q_len, v.size(3)};
  check_input(function, "out", out, output);
  check_input(function, "dout", dout, output);
  if (is_given(log_sum_exp)) {
    check_input(function, "log_sum_exp", log_sum_exp, Shape{a.batch, a.heads_q, a.q_len});
    b.log_sum_exp = log_sum_exp;
  }

  CallArrays arrays = input_arrays(function, q, k, v, options);
  arrays.add_input("out", out);
  arrays.add_input("dout", dout);
  arrays.add_input("log_sum_exp", b.log_sum_exp);
  GradientChecker check(function, std::move(arrays));
  check("gradients.q", gradients.q, q.shape());
  check("gradients.k", gradients.k, k.shape());
  check("gradients.v", gradients.v, v.shape());
  if (gradients.bias_values.is_given()) {
    if (!a.has_bias_table()) refuse_gradient(function, "bias.values", "options.bias.values");
    check("gradients.bias.values", gradients.bias_values, a.bias->values.shape());
  }
  if (gradients.bias_slopes.is_given()) {
    const bool has_slopes = a.bias != nullptr && !a.bias->slopes.empty();
    if (!has_slopes) refuse_gradient(function, "bias.slopes", "options.bias.slopes");
    check("gradients.bias.slopes", gradients.bias_slopes, Shape{a.heads_q});
  }
  if (gradients.sinks.is_given()) {
    if (options.sinks.empty()) refuse_gradient(function, "sinks", "options.sinks");
    check("gradients.sinks", gradients.sinks, Shape{a.heads_q});
  }
  for (const ScoreTerm* term : options.terms) b.term_needs.push_back(term->needs());
  if (!gradients.terms.empty() && gradients.terms.size() != options.terms.size()) {
    refuse(function, "gradients.terms",
           "must be one for each of options.terms, " + std::to_string(options.terms.size()) +
               ", got " + std::to_string(gradients.terms.size()));
  }
  for (std::size_t n = 0; n < gradients.terms.size(); ++n) {
    const std::string name = "terms[" + std::to_string(n) + "]";
    if (!is_given<double>(gradients.terms[n])) continue;
    if (b.term_needs[n].parameters == 0) refuse_gradient(function, name, "a term that learns");
    check("gradients." + name, AnyOutput(gradients.terms[n]), Shape{b.term_needs[n].parameters});
  }
  if (b.wants_mask()) {
    const auto* mask = std::get_if<View<const M>>(&options.mask);
    if (mask == nullptr) refuse_gradient(function, "mask", "a float mask");
    const AnyOutput& gradient = gradients.mask;
    check("gradients.mask", gradient, mask->shape());
    for (int axis = 0; axis < gradient.rank(); ++axis) {
      const auto target = static_cast<std::size_t>(4 - gradient.rank() + axis);
      b.mask_strides[target] = gradient.size(axis) == 1 ? 0 : gradient.stride(axis);
    }
  }
  return b;
}

#define SEXTANT_INSTANTIATE(M)                                                          \
  template BackwardArguments check_backward(                                            \
      std::string_view, const AnyView&, const AnyView&, const AnyView&, const AnyView&, \
      const AnyView&, const WantedGradients&, const AttentionOptionsOf<M>&, View<const float>);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::attention_detail

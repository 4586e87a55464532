// Stick-breaking attention by the operator: a term turns scores into logarithms of weights, and the
// softmax's division is undone by the log-sum-exp.
#include "sextant/attention/stick_breaking.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <variant>
#include <vector>

#include "attention/backward/arguments.h"
#include "attention/call/arguments.h"
#include "attention/call/refuse.h"
#include "attention/merged/merged_options.h"
#include "attention/merged/stick_term.h"

namespace sextant {
namespace {

using attention_detail::each_row;
using attention_detail::refuse;
using attention_detail::StickTerm;

// The call of the operator.
class StickCall {
 public:
  StickCall(std::string_view function, View<const float> q, View<const float> k,
            const StickBreaking& stick, const AttentionOptions<float>& given)
      : options(given) {
    const auto absent = [&](bool is_given, std::string_view name, const char* why) {
      if (is_given) refuse(function, name, std::string("must be absent: ") + why);
    };
    constexpr const char* kWeights = "weights are shares of a stick, not a softmax of scores";
    constexpr const char* kOrder = "the order of keys comes from their products";
    absent(given.softcap != 0, "softcap", kWeights);
    absent(!given.sinks.empty(), "sinks", kWeights);
    absent(given.dropout != 0, "dropout", kWeights);
    absent(given.bias != nullptr, "bias", kWeights);
    absent(!given.terms.empty(), "terms", kWeights);
    absent(std::holds_alternative<View<const float>>(given.mask), "mask",
           "only a boolean mask hides keys from the stick");
    absent(given.rotation != nullptr, "rotation", kOrder);
    absent(given.query_positions.count() > 0, "query_positions", kOrder);
    absent(given.key_positions.count() > 0, "key_positions", kOrder);
    absent(given.window.left != -1 || given.window.right != -1, "window",
           "each row is a stick of all keys before the query");
    absent(!given.segments.empty(), "segments", "a batch row is one stick");
    absent(!given.key_segments.empty(), "key_segments", "a batch row is one stick");
    attention_detail::check_array(function, "q", q, "[batch, heads, q_len, head_dim]");
    attention_detail::check_array(function, "k", k, "[batch, kv_heads, k_len, head_dim]");
    offsets_ = attention_detail::merged_offsets(function, q, k, given);
    for (std::int64_t& offset : offsets_) offset -= stick.current ? 0 : 1;
    options.causal = Causal::at_offsets;
    options.query_offsets = offsets_;
    options.terms = {&term_};
  }
  StickCall(const StickCall&) = delete;
  StickCall& operator=(const StickCall&) = delete;

  AttentionOptions<float> options;

 private:
  StickTerm term_{};
  std::vector<std::int64_t> offsets_{};
};

// The sums of weights by their logarithms, as factors of rows.
double sum_of(View<const float> log_sums, std::int64_t b, std::int64_t h, std::int64_t i) noexcept {
  return std::exp(static_cast<double>(log_sums(b, h, i)));
}

}  // namespace

void stick_breaking_attention(View<const float> q, View<const float> k, View<const float> v,
                              View<float> out, const StickBreaking& stick,
                              const AttentionOptions<float>& options, View<float> log_sums) {
  constexpr std::string_view kName = "stick_breaking_attention";
  const StickCall call(kName, q, k, stick, options);
  Tensor<float> made;
  const Shape rows{q.size(0), q.size(1), q.size(2)};
  if (attention_detail::is_given(log_sums)) {
    attention_detail::check_shape(kName, "log_sums", log_sums, rows);
  } else {
    made = Tensor<float>(rows);
    log_sums = made.view();
  }
  auto checked =
      attention_detail::check_scores(kName, q, attention_detail::KeyArray(k), call.options);
  attention_detail::check_values(kName, checked, attention_detail::KeyArray(v), AnyOutput(out),
                                 log_sums, call.options);
  attention<float>(q, k, v, out, call.options, log_sums);
  each_row(rows, options.threads, [&](std::int64_t b, std::int64_t h, std::int64_t i) {
    float& log_sum = log_sums(b, h, i);
    log_sum = std::min(log_sum, 0.0F);  // by rounding, a sum of 1 may be above it; NaN stays
    const double sum = sum_of(log_sums, b, h, i);
    for (std::int64_t c = 0; c < out.size(3); ++c) {
      out(b, h, i, c) = static_cast<float>(sum * static_cast<double>(out(b, h, i, c)));
    }
  });
}

void stick_breaking_backward(View<const float> q, View<const float> k, View<const float> v,
                             View<const float> dout, const AttentionGradients<float>& gradients,
                             const StickBreaking& stick, const AttentionOptions<float>& options,
                             View<const float> log_sums) {
  constexpr std::string_view kName = "stick_breaking_backward";
  attention_detail::check_only_rows(kName, gradients, false);
  const StickCall call(kName, q, k, stick, options);
  attention_detail::check_shape(kName, "log_sums", log_sums,
                                Shape{q.size(0), q.size(1), q.size(2)});
  // No gradient needs `out`.
  attention_detail::check_backward(kName, q, k, v, dout, dout,
                                   attention_detail::WantedGradients(gradients), call.options,
                                   log_sums);
  const Shape& rows = dout.shape();
  // With P the softmax of the term's scores and L the sum of weights, A = L P. The loss's gradient
  // of those scores is P (L dP - delta) by the softmax and P delta by L: delta cancels, which the
  // operator computes from an output of zeros.
  const Tensor<float> zeros(rows);
  auto of_softmax = Tensor<float>::uninitialized(rows);
  each_row(rows, options.threads, [&](std::int64_t b, std::int64_t h, std::int64_t i) {
    const double sum = sum_of(log_sums, b, h, i);
    for (std::int64_t c = 0; c < rows[3]; ++c) {
      of_softmax(b, h, i, c) =
          sum == 0 ? 0 : static_cast<float>(sum * static_cast<double>(dout(b, h, i, c)));
    }
  });
  attention_backward<float>(q, k, v, zeros, of_softmax, gradients, call.options, log_sums);
}

}  // namespace sextant

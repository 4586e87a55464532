// Computes attention of a sentence with and without positions, before any training.
#include "sextant/lessons/sentence_attention.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "layers/rounding.h"
#include "lessons/sentence_model.h"
#include "lessons/views.h"
#include "sextant/core/error.h"

namespace sextant {

using namespace lessons;

SentenceAttention attend_sentences(const std::vector<std::string>& first,
                                   const std::vector<std::string>& second,
                                   const SentenceAttentionOptions& options) {
  SentenceModel model(first, second, options);
  const View<const double> q_heads = as_heads(std::as_const(model.rotated_q).view(), model.heads()),
                           k_heads = as_heads(std::as_const(model.rotated_k).view(), model.heads());
  SentenceAttention result;
  result.queries = first;
  result.keys = model.keys.tokens;
  result.weights = model.maps(Stage::probabilities);
  result.masked_weights = result.weights.clone();
  hide<double>(result.masked_weights, q_heads, k_heads, model.options);
  result.output = model.model.to_out(model.mixed());
  // A softcap is at most as steep as its input, and rounds numbers of the same size.
  AttentionOptions<double> uncapped = model.options;
  uncapped.softcap = 0;
  const double added = largest_added(q_heads, k_heads, uncapped) + options.softcap;
  result.rounding = linear_rounding(
      model.model.to_out, largest_magnitude(model.v),
      attention_rounding(model.rotated_q, model.rotated_k, model.v, model.scale(), added));
  result.positions = position_effect(model.longer(), std::max(model.q.size(0), model.k.size(0)));
  result.words = std::move(model.queries.embeddings);
  result.inputs = std::move(model.queries.inputs);
  return result;
}

OrderVerdict compare_order(const std::vector<std::string>& first,
                           const std::vector<std::string>& second,
                           const SentenceAttentionOptions& options) {
  check_same_words(first, second, "compare_order.second");
  SentenceAttentionOptions causal = options;
  causal.causal = true;
  OrderVerdict verdict;
  verdict.first = attend_sentences(first, {}, causal);
  verdict.second = attend_sentences(second, {}, causal);
  const auto attended = [](const SentenceAttention& side) -> AttendedSentence {
    return {side.queries, side.output.view(), side.weights.view(), side.positions, side.rounding};
  };
  static_cast<OrderDifference&>(verdict) =
      order_difference(attended(verdict.first), attended(verdict.second));
  return verdict;
}

Tensor<double> plain_self_attention(View<const double> x) {
  if (x.rank() != 2 || x.count() == 0) {
    throw Error("plain_self_attention.x",
                "must be [tokens, width], both at least 1, got " + x.shape().to_string());
  }
  return lessons::one_map(x, x, Stage::probabilities);
}

}  // namespace sextant

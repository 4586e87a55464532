// The laboratory on order: its toy model, drawn from NumPy's generator, run through our attention.
#include "sextant/lessons/order_lab.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "layers/rounding.h"
#include "lessons/views.h"
#include "sextant/attention/attention.h"
#include "sextant/core/error.h"
#include "sextant/core/options.h"
#include "sextant/core/random.h"
#include "sextant/layers/applied_positions.h"
#include "sextant/text/segment.h"

namespace sextant {

using namespace lessons;

namespace {

constexpr IntegerRange kWidths{1, 1 << 16};
constexpr double kHidden =
    -2.3819763e38;  // the laboratory's score of a later word: its weight is exactly zero

Tensor<double> draw(const Shape& shape, NumpyRandom& random) {
  Tensor<double> values(shape);
  for (double& value : values.span()) value = random.uniform();
  return values;
}

// The laboratory multiplies rows by W [in, out]; a Linear keeps [out, in].
Linear<double> draw_map(std::int64_t width, NumpyRandom& random) {
  Linear<double> map;
  const Tensor<double> w = draw({width, width}, random);
  map.weight = copy_of(w.view().transpose(0, 1));
  return map;
}

}  // namespace

OrderLab::OrderLab(const OrderLabOptions& options) : vocabulary_(options.words) {
  check_range(kWidths, "order_lab.width", options.width);
  NumpyRandom random(options.seed);
  embeddings_ = draw({vocabulary_.size(), options.width}, random);
  to_q_ = draw_map(options.width, random);
  to_k_ = draw_map(options.width, random);
  to_v_ = draw_map(options.width, random);
}

OrderLab::Result OrderLab::run(const std::string& sentence, const SchemeSpecs& schemes) const {
  Result result;
  result.tokens = split_spaces(sentence);
  if (result.tokens.empty()) throw Error("order_lab.sentence", "must have at least one word");
  const std::vector<std::int64_t> indices = vocabulary_.indices(result.tokens);
  const auto length = static_cast<std::int64_t>(indices.size());
  const std::int64_t width = embeddings_.size(1);

  Tensor<double> x({length, width});
  for (std::int64_t row = 0; row < length; ++row) {
    for (std::int64_t i = 0; i < width; ++i) {
      x(row, i) = embeddings_(indices[static_cast<std::size_t>(row)], i);
    }
  }
  const AppliedPositions<double> positions({.schemes = schemes, .width = width, .head_dim = width},
                                           length);
  positions.add_to(x);
  result.positions = position_effect(positions, length);

  Tensor<double> q = to_q_(x), k = to_k_(x);
  positions.rotate_queries(View<double>(q.data(), {1, 1, length, width}));
  positions.rotate_keys(View<double>(k.data(), {1, 1, length, width}));
  AttentionOptions<double> options;
  options.causal = Causal::top_left;
  positions.set_terms(options);

  result.scores = one_map(q, k, Stage::biased, options);
  std::replace_if(
      result.scores.span().begin(), result.scores.span().end(),
      [](double score) { return std::isinf(score); }, kHidden);
  result.weights = one_map(q, k, Stage::probabilities, options);
  result.values = to_v_(x);
  result.output = Tensor<double>({length, width});
  attention<double>(one_head(q), one_head(k), one_head(result.values),
                    View<double>(result.output.data(), {1, 1, length, width}), options);
  result.rounding = attention_rounding(q, k, result.values, default_scale(options, width),
                                       largest_added(one_head(q), one_head(k), options));
  return result;
}

OrderLab::Verdict OrderLab::compare(const std::string& first, const std::string& second,
                                    const SchemeSpecs& schemes) const {
  Verdict verdict;
  verdict.first = run(first, schemes);
  verdict.second = run(second, schemes);
  check_same_words(verdict.first.tokens, verdict.second.tokens, "order_lab.second");
  const auto attended = [](const Result& side) -> AttendedSentence {
    return {side.tokens, side.output.view(), side.weights.view().split(0, 1), side.positions,
            side.rounding};
  };
  static_cast<OrderDifference&>(verdict) =
      order_difference(attended(verdict.first), attended(verdict.second));
  return verdict;
}

}  // namespace sextant

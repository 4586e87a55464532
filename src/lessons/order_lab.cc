// The laboratory on order: its toy model, drawn from NumPy's generator, run through our attention.
#include "sextant/lessons/order_lab.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "layers/rounding.h"
#include "lessons/views.h"
#include "sextant/attention/attention.h"
#include "sextant/core/error.h"
#include "sextant/core/random.h"
#include "sextant/layers/applied_positions.h"
#include "sextant/text/segment.h"

namespace sextant {

using namespace lessons;

namespace {

constexpr std::int64_t kWidth = 3;
constexpr std::uint32_t kSeed = 2311;
constexpr double kHidden =
    -2.3819763e38;  // the laboratory's score of a later word: its weight is exactly zero

Tensor<double> draw(const Shape& shape, NumpyRandom& random) {
  Tensor<double> values(shape);
  for (double& value : values.span()) value = random.uniform();
  return values;
}

// The laboratory multiplies rows by W [in, out]; a Linear keeps [out, in].
Linear<double> draw_map(NumpyRandom& random) {
  Linear<double> map;
  const Tensor<double> w = draw({kWidth, kWidth}, random);
  map.weight = copy_of(w.view().transpose(0, 1));
  return map;
}

}  // namespace

OrderLab::OrderLab()
    : vocabulary_(std::vector<std::string>{"<pad>", "the", "zebra", "chased", "lion", "."}) {
  NumpyRandom random(kSeed);
  embeddings_ = draw({vocabulary_.size(), kWidth}, random);
  to_q_ = draw_map(random);
  to_k_ = draw_map(random);
  to_v_ = draw_map(random);
}

OrderLab::Result OrderLab::run(const std::string& sentence, const std::string& scheme,
                               const std::map<std::string, std::string>& parameters) const {
  Result result;
  result.tokens = split_spaces(sentence);
  if (result.tokens.empty()) throw Error("order_lab.sentence", "must have at least one word");
  const std::vector<std::int64_t> indices = vocabulary_.indices(result.tokens);
  const auto length = static_cast<std::int64_t>(indices.size());

  Tensor<double> x({length, kWidth});
  for (std::int64_t row = 0; row < length; ++row) {
    for (std::int64_t i = 0; i < kWidth; ++i) {
      x(row, i) = embeddings_(indices[static_cast<std::size_t>(row)], i);
    }
  }
  const AppliedPositions<double> positions(
      {.scheme = scheme, .parameters = parameters, .width = kWidth, .head_dim = kWidth}, length);
  positions.add_to(x);

  Tensor<double> q = to_q_(x), k = to_k_(x);
  positions.rotate_queries(View<double>(q.data(), {1, 1, length, kWidth}));
  positions.rotate_keys(View<double>(k.data(), {1, 1, length, kWidth}));
  AttentionOptions<double> options;
  options.causal = Causal::top_left;
  positions.set_terms(options);

  result.scores = one_map(q, k, Stage::biased, options);
  std::replace_if(
      result.scores.span().begin(), result.scores.span().end(),
      [](double score) { return std::isinf(score); }, kHidden);
  result.weights = one_map(q, k, Stage::probabilities, options);
  result.values = to_v_(x);
  result.output = Tensor<double>({length, kWidth});
  attention<double>(one_head(q), one_head(k), one_head(result.values),
                    View<double>(result.output.data(), {1, 1, length, kWidth}), options);
  result.rounding = attention_rounding(q, k, result.values, default_scale(options, kWidth),
                                       largest_added(one_head(q), one_head(k), options));
  return result;
}

OrderLab::Verdict OrderLab::compare(const std::string& first, const std::string& second,
                                    const std::string& scheme,
                                    const std::map<std::string, std::string>& parameters) const {
  Verdict verdict;
  verdict.first = run(first, scheme, parameters);
  verdict.second = run(second, scheme, parameters);
  verdict.largest_difference = last_row_difference(verdict.first.output, verdict.second.output);
  verdict.same = verdict.largest_difference <= verdict.first.rounding + verdict.second.rounding;
  return verdict;
}

}  // namespace sextant

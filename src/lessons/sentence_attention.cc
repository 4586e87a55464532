// A small seeded model over words: what attention does to a sentence with and without positions,
// before any training.
#include "sextant/lessons/sentence_attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "layers/rounding.h"
#include "lessons/views.h"
#include "sextant/attention/attention.h"
#include "sextant/core/error.h"
#include "sextant/core/random.h"
#include "sextant/layers/applied_positions.h"
#include "sextant/lessons/heads.h"

namespace sextant {
namespace {

// A number that depends on the bytes of the word and the seed: FNV-1a, then the finaliser of
// MurmurHash3 over both, so that near words and near seeds give unrelated generators.
std::uint32_t word_seed(std::string_view word, std::uint32_t seed) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : word) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  hash ^= std::uint64_t{seed} * 0x9e3779b97f4a7c15u;
  hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccdu;
  hash = (hash ^ (hash >> 33)) * 0xc4ceb9fe1a85ec53u;
  return static_cast<std::uint32_t>(hash ^ (hash >> 33));
}

// [words, width], normal(0, 1) entries: the size that embeddings * sqrt(width) have when positions
// are added to them.
Tensor<double> embed_words(const std::vector<std::string>& words, std::int64_t width,
                           std::uint32_t seed) {
  Tensor<double> x({static_cast<std::int64_t>(words.size()), width});
  double* value = x.data();
  for (const std::string& word : words) {
    NumpyRandom random(word_seed(word, seed));
    for (std::int64_t i = 0; i < width; ++i) *value++ = random.normal();
  }
  return x;
}

// Projections of Linear::random keep a third of the variance of what comes in. Six times that
// variance in q and k makes scores of deviation 2: wide enough that softmax picks some words,
// narrow enough that it does not pick just one.
MultiHead<double> seeded_heads(std::int64_t width, std::int64_t heads, std::uint32_t seed) {
  NumpyRandom random(seed);
  MultiHead<double> model(width, heads, random);
  for (Linear<double>* map : {&model.to_q, &model.to_k}) {
    for (double& weight : map->weight.span()) weight *= std::sqrt(6.0);
  }
  return model;
}

void check(const std::vector<std::string>& first, const SentenceAttentionOptions& options) {
  if (first.empty()) throw Error("attend_sentences.first", "must have at least one token");
  if (options.width < 1) {
    throw Error("attend_sentences.width",
                "must be at least 1, got " + std::to_string(options.width));
  }
  if (options.heads < 1 || options.width % options.heads != 0) {
    throw Error("attend_sentences.heads", "must divide the width, " +
                                              std::to_string(options.width) + ", got " +
                                              std::to_string(options.heads));
  }
  if (options.weights != nullptr && options.positions.size() != 1) {
    throw Error("attend_sentences.weights",
                "must be of a single scheme, got it with " + names_of(options.positions));
  }
}

}  // namespace

SentenceAttention attend_sentences(const std::vector<std::string>& first,
                                   const std::vector<std::string>& second,
                                   const SentenceAttentionOptions& options) {
  check(first, options);
  SentenceAttention result;
  result.queries = first;
  result.keys = second.empty() ? first : second;
  const MultiHead<double> model = seeded_heads(options.width, options.heads, options.seed);
  std::vector<const SchemeWeights*> weights;
  if (options.weights != nullptr) weights.push_back(options.weights);
  const auto positions_of = [&](std::size_t length) {
    return AppliedPositions<double>({.schemes = options.positions,
                                     .width = options.width,
                                     .heads = options.heads,
                                     .head_dim = options.width / options.heads,
                                     .first = options.first_position},
                                    static_cast<std::int64_t>(length), weights);
  };
  const auto query_positions = positions_of(result.queries.size());
  const auto key_positions = positions_of(result.keys.size());

  Tensor<double> x = embed_words(result.queries, options.width, options.seed);
  Tensor<double> context = embed_words(result.keys, options.width, options.seed);
  result.words = x.clone();
  query_positions.add_to(x);
  key_positions.add_to(context);

  AttentionOptions<double> how;
  // Named also without a mask: distances count from the key at the query's own place.
  how.causal = options.causal ? Causal::top_left : Causal::none;
  // Terms by distance or by place have to reach as far as the longer of the two.
  const AppliedPositions<double>& longer =
      x.size(0) < context.size(0) ? key_positions : query_positions;
  longer.set_terms(how);
  HeadsResult<double> heads =
      model(x, context, how, query_positions.query_rotation(), key_positions.key_rotation());

  Tensor<double> q = model.to_q(x), k = model.to_k(context);
  const View<double> q_heads = lessons::as_heads(q.view(), options.heads),
                     k_heads = lessons::as_heads(k.view(), options.heads);
  query_positions.rotate_queries(q_heads);
  key_positions.rotate_keys(k_heads);
  const double scale = lessons::default_scale(how, options.width / options.heads);
  const Tensor<double> v = model.to_v(context);
  result.rounding =
      linear_rounding(model.to_out, largest_magnitude(v),
                      attention_rounding(q, k, v, scale, largest_added(q_heads, k_heads, how)));
  result.weights = std::move(heads.weights);
  result.masked_weights = result.weights.clone();
  lessons::hide<double>(result.masked_weights, q_heads, k_heads, how);
  result.output = std::move(heads.output);
  result.positions = position_effect(longer, std::max(x.size(0), context.size(0)));
  result.inputs = std::move(x);
  return result;
}

OrderVerdict compare_order(const std::vector<std::string>& first,
                           const std::vector<std::string>& second,
                           const SentenceAttentionOptions& options) {
  if (second.empty()) throw Error("compare_order.second", "must have at least one token");
  SentenceAttentionOptions causal = options;
  causal.causal = true;
  OrderVerdict verdict;
  verdict.first = attend_sentences(first, {}, causal);
  verdict.second = attend_sentences(second, {}, causal);
  verdict.largest_difference = last_row_difference(verdict.first.output, verdict.second.output);
  verdict.same = verdict.largest_difference <= verdict.first.rounding + verdict.second.rounding;
  if (verdict.same) verdict.why = why_same(verdict.first.positions, verdict.first.weights);
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

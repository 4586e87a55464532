// The small seeded model over words, opened.
#include "lessons/sentence_model.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/numbers/hash.h"
#include "lessons/sentence_fields.h"
#include "lessons/views.h"
#include "sextant/core/error.h"
#include "sextant/core/random.h"

namespace sextant::lessons {
namespace {

// A number that depends on the bytes of the word and the seed: FNV-1a, then the finaliser of
// MurmurHash3 over both, so that near words and near seeds give unrelated generators.
std::uint32_t word_seed(std::string_view word, std::uint32_t seed) noexcept {
  std::uint64_t hash = fnv1a(word) ^ (std::uint64_t{seed} * 0x9e3779b97f4a7c15u);
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

// Projections of Linear::random keep a third of the variance of their input. Six times that
// variance in q and k makes scores of deviation 2: wide enough that softmax picks some words,
// narrow enough that it does not pick just one.
MultiHead<double> seeded_heads(const SentenceAttentionOptions& options) {
  NumpyRandom random(options.seed);
  MultiHead<double> model(options.width, options.heads, random);
  for (Linear<double>* map : {&model.to_q, &model.to_k}) {
    for (double& weight : map->weight.span()) weight *= std::sqrt(6.0);
  }
  return model;
}

[[noreturn]] void refuse(const std::string& option, const std::string& problem) {
  throw Error("attend_sentences." + option, problem);
}

void check_sinks(const SentenceAttentionOptions& options) {
  const auto sinks = static_cast<std::int64_t>(options.sinks.size());
  if (sinks > 1 && sinks != options.heads) {
    refuse("sinks", "must be one number, or one per head, " + std::to_string(options.heads) +
                        ", got " + std::to_string(sinks));
  }
}

const SentenceAttentionOptions& checked(const SentenceAttentionOptions& options,
                                        const std::vector<std::string>& first) {
  if (first.empty()) refuse("first", "must have at least one token");
  check_fields("attend_sentences", options);
  if (options.width % options.heads != 0) {
    refuse("heads", "must divide the width, " + std::to_string(options.width) + ", got " +
                        std::to_string(options.heads));
  }
  if (options.weights != nullptr && options.schemes.size() != 1) {
    refuse("weights", "must be of a single scheme, got it with " + names_of(options.schemes));
  }
  check_sinks(options);
  return options;
}

SentenceRows rows_of(const std::vector<std::string>& tokens,
                     const SentenceAttentionOptions& options) {
  std::vector<const SchemeWeights*> weights;
  if (options.weights != nullptr) weights.push_back(options.weights);
  SentenceRows rows;
  rows.tokens = tokens;
  rows.positions = AppliedPositions<double>({.schemes = options.schemes,
                                             .width = options.width,
                                             .heads = options.heads,
                                             .head_dim = options.width / options.heads,
                                             .first = options.first_position},
                                            static_cast<std::int64_t>(tokens.size()), weights);
  rows.embeddings = embed_words(tokens, options.width, options.seed);
  rows.inputs = rows.embeddings.clone();
  rows.positions.add_to(rows.inputs);
  return rows;
}

// true: visible.
Tensor<bool> mask_of(const std::vector<HiddenPair>& hidden, std::int64_t queries,
                     std::int64_t keys) {
  Tensor<bool> mask({queries, keys});
  for (bool& visible : mask.span()) visible = true;
  for (const HiddenPair& pair : hidden) {
    if (pair.query < -1 || pair.query >= queries || pair.key < -1 || pair.key >= keys) {
      refuse("hidden", "must be pairs of a query below " + std::to_string(queries) +
                           " and a key below " + std::to_string(keys) + ", got " +
                           std::to_string(pair.query) + ":" + std::to_string(pair.key));
    }
    const std::int64_t i = std::max<std::int64_t>(pair.query, 0);
    const std::int64_t j = std::max<std::int64_t>(pair.key, 0);
    const std::int64_t i_end = pair.query == -1 ? queries : i + 1;
    const std::int64_t j_end = pair.key == -1 ? keys : j + 1;
    for (std::int64_t row = i; row < i_end; ++row) {
      for (std::int64_t column = j; column < j_end; ++column) mask(row, column) = false;
    }
  }
  return mask;
}

}  // namespace

SentenceModel::SentenceModel(const std::vector<std::string>& first,
                             const std::vector<std::string>& second,
                             const SentenceAttentionOptions& asked)
    : model(seeded_heads(checked(asked, first))),
      queries(rows_of(first, asked)),
      keys(rows_of(second.empty() ? first : second, asked)),
      q(model.to_q(queries.inputs)),
      k(model.to_k(keys.inputs)),
      v(model.to_v(keys.inputs)),
      rotated_q(q.clone()),
      rotated_k(k.clone()) {
  queries.positions.rotate_queries(as_heads(rotated_q.view(), heads()));
  keys.positions.rotate_keys(as_heads(rotated_k.view(), heads()));
  set_options(asked);
}

void SentenceModel::set_options(const SentenceAttentionOptions& asked) {
  // Named also without a mask: distances count from the key at the query's own place.
  options.causal = asked.causal ? Causal::top_left : Causal::none;
  longer().set_terms(options);
  options.window = asked.window;
  options.softcap = asked.softcap;
  scale_ = default_scale(options, head_dim()) / asked.temperature;
  if (asked.temperature != 1) options.scale = scale_;
  if (!asked.sinks.empty()) {
    sinks_ = asked.sinks;
    sinks_.resize(static_cast<std::size_t>(heads()), sinks_[0]);
    options.sinks = sinks_;
  }
  if (!asked.hidden.empty()) {
    mask_ = mask_of(asked.hidden, q.size(0), k.size(0));
    options.mask = BoolMask(mask_.view());
  }
}

Tensor<double> SentenceModel::maps(Stage stage) const {
  const Tensor<double> all =
      attention_weights<double>(as_heads(rotated_q.view(), heads()),
                                as_heads(rotated_k.view(), heads()), options, {.stage = stage});
  return copy_of(all.view().select(0, 0));
}

Tensor<double> SentenceModel::mixed() const {
  Tensor<double> mixed({q.size(0), q.size(1)});
  attention<double>(as_heads(rotated_q.view(), heads()), as_heads(rotated_k.view(), heads()),
                    as_heads(v.view(), heads()), as_heads(mixed.view(), heads()), options);
  return mixed;
}

}  // namespace sextant::lessons

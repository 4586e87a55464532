// Shapes, lengths and counted operations of what is trained.
#include "training/cases.h"

#include <algorithm>
#include <cmath>

#include "sextant/core/random.h"

namespace sextant::bench {
namespace {

constexpr std::int64_t kPairs = 32;

TransformerConfig config_of(ModelKind kind) {
  TransformerConfig config;
  config.kind = kind;
  config.vocabulary = 4000;
  config.width = 256;
  config.heads = 8;
  config.layers = kind == ModelKind::translator ? 3 : 6;
  config.ffn_width = 1024;
  config.activation = Activation::relu;
  config.tied = false;
  config.schemes = {kind == ModelKind::translator ? "sinusoidal" : "learned"};
  config.length = 256;
  return config;
}

// Returns a model as small as that of a first lesson.
TransformerConfig characters() {
  TransformerConfig config = config_of(ModelKind::causal);
  config.vocabulary = 96;
  config.width = 128;
  config.heads = 4;
  config.layers = 4;
  config.ffn_width = 512;
  config.schemes = {"sinusoidal"};
  config.length = 128;
  return config;
}

// Lengths as sentences have them: log-normal. The Shakespeare pairs have a median of 9 words and a
// deviation of 0.66 of the logarithm; pieces of words are more by a half.
std::vector<Lengths> uneven_pairs(std::int64_t pairs, std::int64_t longest, NumpyRandom& random) {
  const auto cut = [longest](double length) {
    return std::clamp<std::int64_t>(std::llround(length), 4, longest);
  };
  std::vector<Lengths> lengths;
  for (std::int64_t i = 0; i < pairs; ++i) {
    const double source = 13 * std::exp(0.65 * random.normal());
    lengths.push_back({cut(source), cut(source * (0.75 + 0.5 * random.uniform()))});
  }
  return lengths;
}

// Appends random tokens; 0 .. 2 are kept free, as tokenizers do.
void append(std::vector<std::int64_t>& to, std::int64_t count, std::int64_t vocabulary,
            NumpyRandom& random) {
  for (std::int64_t i = 0; i < count; ++i) to.push_back(3 + random.bits() % (vocabulary - 3));
}

NumpyRandom tokens_random(std::size_t batch) {
  return NumpyRandom(static_cast<std::uint32_t>(100 + batch));
}

void append_sequence(TokenBatch& batch, std::int64_t length, std::int64_t vocabulary,
                     NumpyRandom& random) {
  append(batch.tokens, length, vocabulary, random);
  append(batch.targets, length, vocabulary, random);
  batch.segments.push_back(static_cast<std::int64_t>(batch.tokens.size()));
}

}  // namespace

std::vector<TrainingCase> training_cases(bool quick) {
  const std::int64_t part = quick ? 8 : 1;
  NumpyRandom random(7);
  std::vector<std::vector<Lengths>> uneven(4);
  for (auto& batch : uneven) batch = uneven_pairs(kPairs / part, 64, random);
  const std::vector<Lengths> texts(static_cast<std::size_t>(8 / part), {0, 256 / part});
  const std::vector<Lengths> even(static_cast<std::size_t>(kPairs / part), {32, 32});
  std::vector<TrainingCase> cases;
  for (const double dropout : {0.0, 0.1}) {
    const std::string behind = dropout > 0 ? " dropout" : "";
    cases.push_back({"lm" + behind, config_of(ModelKind::causal), dropout, {texts}});
    cases.push_back({"translator" + behind, config_of(ModelKind::translator), dropout, {even}});
    cases.push_back({"uneven" + behind, config_of(ModelKind::translator), dropout, uneven});
  }
  const std::vector<Lengths> lines(static_cast<std::size_t>(16 / part), {0, 128});
  cases.push_back({"characters", characters(), 0, {lines}});
  return cases;
}

Operations operations_of(const TrainingCase& test) {
  const auto width = static_cast<double>(test.config.width);
  const auto layers = static_cast<double>(test.config.layers);
  const auto vocabulary = static_cast<double>(test.config.vocabulary);
  const double self = 4 * width * width;  // multiply-adds of a token: q, k, v and out
  const double forward = 2 * width * static_cast<double>(test.config.ffn_width);
  double maps = 0;   // multiply-adds
  double pairs = 0;  // of queries and keys, in all layers
  for (const auto& batch : test.batches) {
    for (const Lengths& one : batch) {
      const auto source = static_cast<double>(one.source);
      const auto target = static_cast<double>(one.target);
      maps += target * (layers * (self + forward) + width * vocabulary);
      pairs += layers * target * (target + 1) / 2;
      if (test.config.kind != ModelKind::translator) continue;
      // The encoder; q and out of the targets, k and v of the sources.
      maps += source * layers * (self + forward) + (target + source) * layers * self / 2;
      pairs += layers * (source * source + target * source);
    }
  }
  return {6 * maps, 4 * pairs * width, 10 * pairs * width};
}

std::int64_t tokens_of(const TrainingCase& test) {
  std::int64_t tokens = 0;
  for (const auto& batch : test.batches) {
    for (const Lengths& one : batch) tokens += one.source + one.target;
  }
  return tokens;
}

Json to_json(const TrainingCase& test) {
  Json batches = Json::array();
  for (const auto& batch : test.batches) {
    batches.push_back(Json::array());
    for (const Lengths& one : batch) batches.back().push_back({one.source, one.target});
  }
  return {{"name", test.name},
          {"kind", name_of(test.config.kind)},
          {"vocabulary", test.config.vocabulary},
          {"width", test.config.width},
          {"heads", test.config.heads},
          {"layers", test.config.layers},
          {"hidden", test.config.ffn_width},
          {"length", test.config.length},
          {"positions", test.config.schemes.front().scheme},
          {"dropout", test.dropout},
          {"batches", batches}};
}

TokenBatch token_batch(const TrainingCase& test, std::size_t i) {
  NumpyRandom random = tokens_random(i);
  TokenBatch batch;
  batch.segments = {0};
  for (const Lengths& one : test.batches[i]) {
    append_sequence(batch, one.target, test.config.vocabulary, random);
  }
  return batch;
}

PairBatch pair_batch(const TrainingCase& test, std::size_t i) {
  NumpyRandom random = tokens_random(i);
  PairBatch batch;
  batch.source_segments = batch.target.segments = {0};
  for (const Lengths& one : test.batches[i]) {
    append(batch.source, one.source, test.config.vocabulary, random);
    batch.source_segments.push_back(static_cast<std::int64_t>(batch.source.size()));
    append_sequence(batch.target, one.target, test.config.vocabulary, random);
  }
  return batch;
}

}  // namespace sextant::bench

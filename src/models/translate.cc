// Decoding with one model or several, sources encoded and decoded together: by beam search, or
// along translations that are given.
#include "sextant/models/translate.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "models/batch_decoder.h"
#include "models/generation_fields.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

using models::BatchDecoder;
using Tokens = std::vector<std::int64_t>;

// Scores the targets along their tokens, all side by side, shorter ones leaving.
LossSum score_targets(BatchDecoder& decoder, std::span<const Tokens> targets,
                      const BeamSearchOptions& search) {
  LossSum sum;
  Tokens read(targets.size(), search.bos), rows(targets.size());
  std::iota(rows.begin(), rows.end(), std::int64_t{0});
  std::vector<std::size_t> places(rows.begin(), rows.end());  // whose target a row reads
  for (std::size_t length = 0; !rows.empty(); ++length) {
    const Tensor<float> table = decoder.step(rows, read);
    std::vector<std::size_t> stay;
    rows.clear();
    read.clear();
    for (std::size_t i = 0; i < places.size(); ++i) {
      const Tokens& target = targets[places[i]];
      const bool ends = length == target.size();
      const std::int64_t token = ends ? search.eos : target[length];
      const auto row = static_cast<std::int64_t>(i);
      const float* line = &table(row, 0);
      sum.loss -= static_cast<double>(line[token]);
      sum.correct += std::max_element(line, line + table.size(1)) - line == token ? 1 : 0;
      ++sum.tokens;
      if (ends) continue;
      rows.push_back(row);
      read.push_back(token);
      stay.push_back(places[i]);
    }
    places = std::move(stay);
  }
  sum.smoothed = sum.loss;
  return sum;
}

// Whether a model reads targets of any length up to `longest` tokens with the tables of the
// longest: then one pass over all of a target is the same as token by token.
bool has_one_table(const TranslatorEnsemble& ensemble, std::int64_t longest) {
  const PositionModule<float>& positions = ensemble.models[0]->decoder_positions;
  return ensemble.models.size() == 1 && positions.table_key(1) == positions.table_key(longest);
}

// Scores the targets in one pass of the model over all their tokens.
LossSum score_at_once(const Translator<float>& model, std::span<const Tokens> sources,
                      std::span<const Tokens> targets, const Tokens& before,
                      const BeamSearchOptions& search, int threads) {
  PairBatch batch{.source_segments = {0}, .target = {.segments = {0}}};
  auto& [tokens, segments, wanted, first_row, types] = batch.target;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const Tokens& target = targets[i];
    batch.source.insert(batch.source.end(), sources[i].begin(), sources[i].end());
    batch.source_segments.push_back(std::ssize(batch.source));
    tokens.insert(tokens.end(), before.begin(), before.end());
    tokens.push_back(search.bos);
    tokens.insert(tokens.end(), target.begin(), target.end());
    segments.push_back(std::ssize(tokens));
    wanted.insert(wanted.end(), before.size(), -1);
    wanted.insert(wanted.end(), target.begin(), target.end());
    wanted.push_back(search.eos);
  }
  Workspace memory;
  Pass pass{.memory = memory, .threads = threads};
  return model.loss(batch, {}, nullptr, pass);
}

void check_tokens(const std::string& name, const Tokens& tokens, std::int64_t vocabulary) {
  for (const std::int64_t token : tokens) {
    if (token >= 0 && token < vocabulary) continue;
    throw Error(
        name, "must be 0 .. " + std::to_string(vocabulary - 1) + ", got " + std::to_string(token));
  }
}

// The tokens around targets: `before` and search.bos are read before them, search.eos is written
// after.
struct TargetEnds {
  Tokens before;
  BeamSearchOptions search;
};
TargetEnds target_ends(const TransformerConfig& config, const BeamSearchOptions& search) {
  TargetEnds ends{{}, search};
  if (search.bos < 0) {
    ends.before = config.target_start;
    ends.search.bos = ends.before.back();
    ends.before.pop_back();
  }
  if (search.eos < 0) ends.search.eos = config.target_end;
  return ends;
}

// The longest sequence that all models have positions for.
std::int64_t max_length(const TranslatorEnsemble& ensemble) {
  std::int64_t longest = kAnyLength;
  for (const Translator<float>* model : ensemble.models) {
    longest = std::min(
        {longest, model->encoder_positions.max_length(), model->decoder_positions.max_length()});
  }
  return longest;
}

// `more`: tokens that are read besides, <bos>.
void check_length(const std::string& name, const Tokens& tokens, std::int64_t more,
                  std::int64_t longest) {
  if (std::ssize(tokens) + more <= longest) return;
  throw Error(name, "must be at most " + std::to_string(longest - more) +
                        " tokens each, where the positions of the model end, got " +
                        std::to_string(tokens.size()));
}

void check(const TranslatorEnsemble& ensemble, std::span<const Tokens> sources,
           const TranslateOptions& options) {
  const auto& models = ensemble.models;
  if (models.empty()) throw Error("translate.models", "must be at least one, got none");
  const std::int64_t vocabulary = models[0]->config.vocabulary;
  for (const Translator<float>* model : models) {
    if (model->config.vocabulary == vocabulary) continue;
    throw Error("translate.models", "must have one vocabulary, got " + std::to_string(vocabulary) +
                                        " and " + std::to_string(model->config.vocabulary) +
                                        " tokens");
  }
  for (const Translator<float>* model : models) {
    const TransformerConfig &one = models[0]->config, &other = model->config;
    if (one.target_start == other.target_start && one.target_end == other.target_end) continue;
    throw Error("translate.models", "must begin and end targets with the same tokens");
  }
  check_fields("translate", options);
  const std::int64_t longest = max_length(ensemble);
  for (const auto& source : sources) {
    if (source.empty()) throw Error("translate.sources", "must have a token each");
    check_tokens("translate.sources", source, vocabulary);
    check_length("translate.sources", source, 0, longest);
  }
}

}  // namespace

std::vector<std::int64_t> unwritten_tokens(const TransformerConfig& translator) {
  if (translator.target_start == Tokens{Tokenizer::kBos} &&
      translator.target_end == Tokenizer::kEos) {
    return {Tokenizer::kPad, Tokenizer::kBos, Tokenizer::kUnk};
  }
  Tokens tokens = translator.target_start;
  std::erase(tokens, translator.target_end);
  return tokens;
}

std::vector<std::vector<Hypothesis>> translate(const TranslatorEnsemble& ensemble,
                                               std::span<const std::vector<std::int64_t>> sources,
                                               const TranslateOptions& options) {
  check(ensemble, sources, options);
  const TransformerConfig& config = ensemble.models[0]->config;
  const auto [before, search] = target_ends(config, options.search);
  const std::int64_t longest = max_length(ensemble) - std::ssize(before);
  if (longest < 1) {
    throw Error("translate.models", "must have positions for more tokens than target_start has");
  }
  const Tokens never = options.never.value_or(unwritten_tokens(config));
  std::vector<std::vector<Hypothesis>> all;
  for (std::size_t first = 0; first < sources.size();) {
    const auto together = sources.subspan(
        first, std::min(sources.size() - first, static_cast<std::size_t>(options.batch_size)));
    Tokens lengths;
    for (const Tokens& source : together) {
      const double length = options.length_factor * static_cast<double>(source.size());
      lengths.push_back(
          std::min(static_cast<std::int64_t>(length) + options.extra_tokens, longest));
    }
    BatchDecoder decoder(ensemble, together, before, *std::ranges::max_element(lengths),
                         options.threads);
    auto found = beam_search(
        lengths,
        [&](std::span<const std::int64_t> parents, std::span<const std::int64_t> tokens) {
          return decoder.step(parents, tokens, never);
        },
        search);
    for (auto& hypotheses : found) all.push_back(std::move(hypotheses));
    first += together.size();
  }
  return all;
}

LossSum translation_loss(const TranslatorEnsemble& ensemble,
                         std::span<const std::vector<std::int64_t>> sources,
                         std::span<const std::vector<std::int64_t>> targets,
                         const TranslateOptions& options) {
  check(ensemble, sources, options);
  if (targets.size() != sources.size()) {
    throw Error("translation_loss.targets", "must be as many as sources, " +
                                                std::to_string(sources.size()) + ", got " +
                                                std::to_string(targets.size()));
  }
  const TransformerConfig& config = ensemble.models[0]->config;
  const std::int64_t vocabulary = config.vocabulary;
  const auto [before, search] = target_ends(config, options.search);
  check_tokens("translation_loss.bos", {search.bos}, vocabulary);
  check_tokens("translation_loss.eos", {search.eos}, vocabulary);
  for (const Tokens& target : targets) {
    check_tokens("translation_loss.targets", target, vocabulary);
    check_length("translation_loss.targets", target, std::ssize(before) + 1, max_length(ensemble));
  }
  LossSum sum;
  for (std::size_t first = 0; first < sources.size();) {
    const std::size_t count =
        std::min(sources.size() - first, static_cast<std::size_t>(options.batch_size));
    const auto read = sources.subspan(first, count), wanted = targets.subspan(first, count);
    std::int64_t longest = 0;  // with <bos>
    for (const Tokens& target : wanted)
      longest = std::max<std::int64_t>(longest, std::ssize(target) + 1);
    if (has_one_table(ensemble, longest + std::ssize(before))) {
      sum.add(score_at_once(*ensemble.models[0], read, wanted, before, search, options.threads));
    } else {
      BatchDecoder decoder(ensemble, read, before, longest, options.threads);
      sum.add(score_targets(decoder, wanted, search));
    }
    first += count;
  }
  return sum;
}

}  // namespace sextant

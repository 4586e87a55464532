// Losses, BLEU and exact matches of models on data that they have not seen.
#include "sextant/training/evaluate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "core/text/utf8.h"
#include "sextant/core/error.h"
#include "sextant/training/tasks/translation_task.h"

namespace sextant {
namespace {

constexpr std::size_t kTogether = 32;  // lines, between two calls of an observer

double mean(const LossSum& sum) { return sum.loss / static_cast<double>(sum.tokens); }

void translate_all(const LineTranslator& translator, const std::vector<std::string>& lines,
                   std::span<const std::vector<std::int64_t>> sources,
                   const TranslateOptions& options, const EvaluationObserver& observer,
                   PairScore& score) {
  const auto start = std::chrono::steady_clock::now();
  std::int64_t tokens = 0;  // that were made, ends included
  for (std::size_t first = 0; first < sources.size(); first += kTogether) {
    if (observer) observer("translated", first, sources.size());
    const auto part = sources.subspan(first, std::min(kTogether, sources.size() - first));
    for (const auto& found : translator.hypotheses(part, options)) {
      const std::string& line = lines[score.translations.size()];
      std::string& made = score.translations.emplace_back();
      if (found.empty()) continue;
      made = translator.text(line, found[0], options.threads);
      std::ranges::replace(made, '\n', ' ');
      tokens += static_cast<std::int64_t>(found[0].tokens.size()) + found[0].finished;
    }
  }
  score.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (score.seconds > 0) score.tokens_per_second = static_cast<double>(tokens) / score.seconds;
}

// The loss of the references, each given its source. Pairs of which a side has no token have none.
LossSum reference_loss(const LineTranslator& translator, const TokenPairs& pairs,
                       const TranslateOptions& options, const EvaluationObserver& observer) {
  TokenPairs with_tokens;
  for (std::size_t i = 0; i < pairs.source.size(); ++i) {
    if (pairs.source[i].empty() || pairs.target[i].empty()) continue;
    with_tokens.source.push_back(pairs.source[i]);
    with_tokens.target.push_back(pairs.target[i]);
  }
  const std::size_t count = with_tokens.source.size();
  if (observer) observer("reading", count, count);
  return translation_loss(translator.models(), with_tokens.source, with_tokens.target, options);
}

std::vector<std::vector<std::int64_t>> tokens_of(const LineTranslator& translator,
                                                 const std::vector<std::string>& lines,
                                                 std::string_view where, bool translations) {
  std::vector<std::vector<std::int64_t>> tokens;
  for (const std::string& line : lines) {
    const std::string pair = ", pair " + std::to_string(tokens.size() + 1);
    tokens.push_back(translator.tokens(line, std::string(where) + pair, translations));
  }
  return tokens;
}

}  // namespace

TextScore evaluate(const TextModel& model, std::string_view text, const TextWindows& windows,
                   std::string_view where) {
  const auto tokens = model.tokenizer.model_input(text).ids;
  if (tokens.size() < 2) {
    throw Error(where, "must have at least 2 tokens, got " + std::to_string(tokens.size()));
  }
  TextScore score{.tokens = static_cast<std::int64_t>(tokens.size()),
                  .unknown = std::ranges::count(tokens, model.tokenizer.special().unk),
                  .characters = count_characters(text),
                  .windows = {}};
  const double ratio = static_cast<double>(score.tokens) / static_cast<double>(score.characters);
  const auto add = [&](const TextWindows& these) {
    const LossSum sum = text_loss(model, tokens, these);
    score.windows.push_back({.length = these.length,
                             .stride = these.stride,
                             .perplexity = std::exp(mean(sum)),
                             .bits_per_character = mean(sum) / std::log(2.0) * ratio,
                             .correct_percent = 100 * static_cast<double>(sum.correct) /
                                                static_cast<double>(sum.tokens)});
  };
  TextWindows all = windows;
  if (all.length == 0) all.length = model.config.length;
  const std::int64_t stride = std::exchange(all.stride, all.length);
  if (stride != 0) check_stride(all.length, stride);
  add(all);
  if (stride == 0 || stride == all.length) return score;
  all.stride = stride;
  add(all);
  return score;
}

PairScore evaluate(const LineTranslator& translator, const SentencePairs& pairs,
                   const TranslateOptions& options, const EvaluationObserver& observer,
                   std::string_view where) {
  TokenPairs tokens;
  tokens.source = tokens_of(translator, pairs.source, where, false);
  tokens.target = tokens_of(translator, pairs.target, where, true);
  PairScore score;
  const LossSum loss = reference_loss(translator, tokens, options, observer);
  score.perplexity = std::exp(mean(loss));
  score.reference_tokens = loss.tokens;
  for (const auto& line : tokens.target) {
    score.unknown_tokens += std::ranges::count(line, translator.tokenizer().special().unk);
  }
  translate_all(translator, pairs.source, tokens.source, options, observer, score);
  std::int64_t exact = 0;
  for (std::size_t i = 0; i < pairs.target.size(); ++i) {
    exact += score.translations[i] == pairs.target[i];
  }
  score.exact_percent =
      100 * static_cast<double>(exact) / static_cast<double>(score.translations.size());
  score.bleu = bleu(score.translations, pairs.target);
  score.source_bleu = bleu(pairs.source, pairs.target).score;
  return score;
}

ExactMatch exact_match(const TextTranslator& model, const SentencePairs& pairs, int threads) {
  constexpr std::size_t kShownMisses = 3;
  std::vector<std::vector<std::int64_t>> sources;
  for (const std::string& text : pairs.source) sources.push_back(model.tokenizer.encode(text));
  const auto found =
      translate(model, sources, {.search = {.beams = 1}, .batch_size = 100, .threads = threads});
  ExactMatch match;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::string got = model.tokenizer.decode(found[i].front().tokens);
    ++match.count;
    if (got == pairs.target[i]) {
      ++match.right;
    } else if (match.misses.size() < kShownMisses) {
      match.misses.push_back({pairs.source[i], pairs.target[i], got});
    }
  }
  return match;
}

}  // namespace sextant

// Lines of text through a translator.
#include "sextant/models/translate_lines.h"

#include <algorithm>
#include <utility>

#include "sextant/core/error.h"
#include "sextant/text/segment.h"

namespace sextant {
namespace {

std::string text_of(const TextTranslator& model, std::string_view line, const Hypothesis& found,
                    int threads) {
  const Tokenizer& tokenizer = model.tokenizer;
  const auto is_unknown = [](std::int64_t id) { return id == Tokenizer::kUnk; };
  if (!model.pointer || std::ranges::none_of(found.tokens, is_unknown)) {
    return tokenizer.decode(found.tokens);
  }
  const auto source = tokenizer.encode(line);
  if (std::ranges::none_of(source, is_unknown)) return tokenizer.decode(found.tokens);
  const std::vector<std::int64_t> read = model.decoder_input(found.tokens);
  Workspace memory;
  Pass pass{.memory = memory, .threads = threads};
  const Tensor<float> copied = model.attention_maps(source, read, pass).copied;
  const auto words = tokenizer.tokens(line);
  // The row that writes the first token: it is read before that.
  const std::int64_t writes = std::ssize(model.config.target_start) - 1;
  std::vector<std::string> made;
  for (std::size_t i = 0; i < found.tokens.size(); ++i) {
    made.push_back(tokenizer.piece(found.tokens[i]));
    float most = -1;
    for (std::size_t j = 0; is_unknown(found.tokens[i]) && j < source.size(); ++j) {
      const float part =
          copied(static_cast<std::int64_t>(i) + writes, static_cast<std::int64_t>(j));
      if (!is_unknown(source[j]) || part <= most) continue;
      most = part;
      made.back() = words[j];
    }
  }
  return tokenizer.join(made);
}

}  // namespace

std::vector<std::int64_t> source_tokens(const Tokenizer& tokenizer, std::string_view sentence) {
  auto tokens = tokenizer.encode(sentence);
  return tokens.empty() ? tokens : tokenizer.model_input(sentence).ids;
}

TranslateOptions for_text(const TextTranslator& model, TranslateOptions options) {
  const Tokenizer& tokenizer = model.tokenizer;
  if (options.never || tokenizer.kind() != TokenizerKind::pretrained) return options;
  options.never = tokenizer.unwritten(model.config.vocabulary);
  std::erase(*options.never, tokenizer.special().bos);  // some models write it first
  return options;
}

std::string translate(const TextTranslator& model, std::string_view sentence,
                      const TranslateOptions& options) {
  const std::vector<std::vector<std::int64_t>> sources = {source_tokens(model.tokenizer, sentence)};
  if (sources[0].empty()) return "";
  const auto found = translate(model, sources, for_text(model, options));
  return text_of(model, sentence, found[0][0], options.threads);
}

LineTranslator::LineTranslator(std::vector<ModelFolder> folders) : folders_(std::move(folders)) {
  if (folders_.empty()) throw Error("translate.models", "must be one or more, got none");
  for (const ModelFolder& folder : folders_) {
    if (folder.tokenizer != folders_.front().tokenizer) {
      throw Error(folder.path,
                  "must have the tokenizer of " + folders_[0].path + ", got another one");
    }
    models_.push_back(TextTranslator::load(folder));
  }
}

LineTranslator::LineTranslator(TextTranslator first, std::vector<TextTranslator> others)
    : models_(std::move(others)) {
  models_.insert(models_.begin(), std::move(first));
}

std::vector<const Translator<float>*> LineTranslator::models() const {
  std::vector<const Translator<float>*> models;
  for (const Translator<float>& model : models_) models.push_back(&model);
  return models;
}

std::vector<std::vector<Hypothesis>> LineTranslator::hypotheses(
    std::span<const std::vector<std::int64_t>> lines, const TranslateOptions& options) const {
  std::vector<std::vector<std::int64_t>> sources;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    sources.push_back(lines[i]);
    places.push_back(i);
  }
  std::vector<std::vector<Hypothesis>> result(lines.size());
  auto found = translate(models(), sources, for_text(first(), options));
  for (std::size_t i = 0; i < found.size(); ++i) result[places[i]] = std::move(found[i]);
  return result;
}

std::string LineTranslator::text(std::string_view line, const Hypothesis& found,
                                 int threads) const {
  return text_of(first(), line, found, threads);
}

std::vector<std::int64_t> LineTranslator::tokens(std::string_view line, const std::string& where,
                                                 bool translation) const {
  check_utf8(line, where);
  auto tokens = translation ? tokenizer().encode(line) : source_tokens(tokenizer(), line);
  if (tokens.size() <= kMaxLineTokens) return tokens;
  throw Error(where, "must be at most " + std::to_string(kMaxLineTokens) +
                         " tokens for a model, got " + std::to_string(tokens.size()));
}

}  // namespace sextant

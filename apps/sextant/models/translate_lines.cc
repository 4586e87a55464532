// Lines of text through a translator.
#include "models/translate_lines.h"

#include <algorithm>
#include <utility>

#include "options/options.h"
#include "sextant/core/error.h"
#include "sextant/text/segment.h"

namespace sextant::app {

Translators::Translators(const ModelOption& option)
    : folders_(option.open_all({ModelKind::translator})) {
  for (const ModelFolder& folder : folders_) {
    if (folder.tokenizer != tokenizer()) {
      throw Error(folder.path,
                  "must have the tokenizer of " + folders_[0].path + ", got another one");
    }
    models_.push_back(load_translator(folder));
  }
}

std::vector<Translator<float>*> Translators::all() {
  std::vector<Translator<float>*> models;
  for (Translator<float>& model : models_) models.push_back(&model);
  return models;
}

std::vector<std::vector<Hypothesis>> Translators::translate(
    std::span<const std::vector<std::int64_t>> lines, const Translation& options) {
  std::vector<std::vector<std::int64_t>> sources;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    sources.push_back(lines[i]);
    places.push_back(i);
  }
  std::vector<std::vector<Hypothesis>> result(lines.size());
  auto found = sextant::translate(all(), sources, options);
  for (std::size_t i = 0; i < found.size(); ++i) result[places[i]] = std::move(found[i]);
  return result;
}

std::string Translators::text(std::string_view line, const Hypothesis& found, int threads) {
  const auto is_unknown = [](std::int64_t id) { return id == Tokenizer::unk(); };
  if (!first().pointer || std::ranges::none_of(found.tokens, is_unknown)) {
    return tokenizer().decode(found.tokens);
  }
  const auto source = tokenizer().encode(line);
  if (std::ranges::none_of(source, is_unknown)) return tokenizer().decode(found.tokens);
  std::vector<std::int64_t> read{Tokenizer::bos()};
  read.insert(read.end(), found.tokens.begin(), found.tokens.end());
  Workspace memory;
  Pass pass{.memory = memory, .threads = threads};
  const Tensor<float> copied = first().attention_maps(source, read, pass).copied;
  const auto words = tokenizer().tokens(line);
  std::vector<std::string> made;
  for (std::size_t i = 0; i < found.tokens.size(); ++i) {
    made.push_back(tokenizer().piece(found.tokens[i]));
    float most = -1;
    for (std::size_t j = 0; is_unknown(found.tokens[i]) && j < source.size(); ++j) {
      const float part = copied(static_cast<std::int64_t>(i), static_cast<std::int64_t>(j));
      if (!is_unknown(source[j]) || part <= most) continue;
      most = part;
      made.back() = words[j];
    }
  }
  return tokenizer().join(made);
}

void add_search(CLI::App& command, BeamSearch& search) {
  constexpr std::int64_t kMostBeams = 4096;
  add_integer(command, "--beam", search.beams, 1, kMostBeams,
              "number of hypotheses; 1: greedy (default 4)");
  const std::string where = command.get_name() + ".length-penalty";
  command
      .add_option_function<std::string>(
          "--length-penalty",
          [&search, where](const std::string& text) {
            search.length_penalty = parse_finite(text, where, 0);
          },
          "0: none; larger: longer translations (default 1)")
      ->type_name("X");
}

std::vector<std::int64_t> line_tokens(const Tokenizer& tokenizer, std::string_view line,
                                      const std::string& where) {
  check_utf8(line, where);
  auto tokens = tokenizer.encode(line);
  if (tokens.size() <= kMostLineTokens) return tokens;
  throw Error(where, "must be at most " + std::to_string(kMostLineTokens) +
                         " tokens for a model, got " + std::to_string(tokens.size()));
}

}  // namespace sextant::app

// Lines of text through a translator.
#include "translate_lines.h"

#include <utility>

#include "options.h"
#include "sextant/core/error.h"
#include "sextant/text/segment.h"

namespace sextant::app {

void add_search(CLI::App& command, BeamSearch& search) {
  constexpr std::int64_t kMostBeams = 4096;
  add_integer(command, "--beam", search.beams, 1, kMostBeams,
              "hypotheses that are followed; 1: greedy (default 4)");
  const std::string where = command.get_name() + ".length-penalty";
  command
      .add_option_function<std::string>(
          "--length-penalty",
          [&search, where](const std::string& text) {
            search.length_penalty = parse_finite(text, where, 0);
          },
          "0: log-probabilities as they are; larger: longer translations (default 0.6)")
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

std::vector<std::vector<Hypothesis>> translate_lines(
    Translator<float>& model, std::span<const std::vector<std::int64_t>> lines,
    const Translation& options) {
  std::vector<std::vector<std::int64_t>> sources;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    sources.push_back(lines[i]);
    places.push_back(i);
  }
  std::vector<std::vector<Hypothesis>> all(lines.size());
  auto found = translate(model, sources, options);
  for (std::size_t i = 0; i < found.size(); ++i) all[places[i]] = std::move(found[i]);
  return all;
}

}  // namespace sextant::app

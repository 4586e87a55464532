// `sextant translate`: lines of text through a trained translator.
#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "commands.h"
#include "models/model_option.h"
#include "options/options.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/core/numbers.h"
#include "sextant/models/translate_lines.h"
#include "streams/console.h"
#include "streams/line_source.h"

namespace sextant::app {
namespace {

constexpr std::size_t kTogether = 32;  // lines

struct Translate {
  ModelOption model;
  TextInput text;
  TranslateOptions options;
  bool n_best_given = false;
  bool json = false;
};

LineSource lines_of(const TextInput& text) {
  constexpr std::uint64_t kLongest = std::uint64_t{1} << 30;
  if (text.is_stdin()) return LineSource();
  if (!text.file.empty()) return LineSource(read_file(text.file, kLongest));
  if (text.text.empty()) throw Error("translate.text", "must hold some text, got none");
  return LineSource(text.text);
}

std::string json_of(const std::string& line, const std::vector<Hypothesis>& found,
                    const LineTranslator& models, int threads) {
  Json json{{"source", line}, {"translations", Json::array()}};
  const std::string& taught = models.folders()[0].taught;
  if (!taught.empty()) json["taught"] = taught;
  for (const Hypothesis& hypothesis : found) {
    json["translations"].push_back({{"text", models.text(line, hypothesis, threads)},
                                    {"score", hypothesis.score},
                                    {"log_probability", hypothesis.log_probability},
                                    {"probability", std::exp(hypothesis.log_probability)},
                                    {"finished", hypothesis.finished}});
  }
  return json.dump() + "\n";
}

// The translation, or with --n-best a line for each: the number of the source's line, the score,
// the text. A line of a text stays one line.
std::string text_of(const Translate& command, std::int64_t number, const std::string& source,
                    const std::vector<Hypothesis>& found, const LineTranslator& models) {
  std::string text;
  for (const Hypothesis& hypothesis : found) {
    std::string line = models.text(source, hypothesis, command.model.threads);
    for (char& c : line) c = c == '\n' ? ' ' : c;
    if (command.n_best_given) {
      text += std::to_string(number) + "\t" + fixed(hypothesis.score, 4) + "\t";
    }
    text += line + "\n";
  }
  if (found.empty()) text = command.n_best_given ? std::to_string(number) + "\t0.0000\t\n" : "\n";
  return text;
}

// Warns about the limits of a model that is part of the program: `sure` are the probabilities of
// the lines.
void tell_taught(const std::string& taught, std::span<const double> sure) {
  if (taught.empty() || sure.empty() || !stderr_is_terminal()) return;
  const double least = *std::ranges::min_element(sure);
  note((sure.size() == 1 ? "" : "at least ") + fixed(100 * least, 1) + " % sure" +
       (sure.size() == 1 ? "" : " of each line") + "; it was trained on " + taught +
       ": other texts it gets wrong, however sure it is");
}

void run(const Translate& command) {
  LineSource source = lines_of(command.text);
  LineTranslator models(command.model.open_all({ModelKind::translator}));
  TranslateOptions options = command.options;
  options.threads = command.model.threads;
  const std::string where = command.text.is_stdin()     ? "stdin"
                            : command.text.file.empty() ? "translate.text"
                                                        : command.text.file;
  std::int64_t number = 0;  // lines before these
  std::vector<double> sure;
  while (true) {
    const auto lines = source.next(kTogether);
    if (lines.empty()) break;
    std::vector<std::vector<std::int64_t>> tokens;
    for (const std::string& line : lines) {
      const auto at = number + static_cast<std::int64_t>(tokens.size()) + 1;
      tokens.push_back(models.tokens(line, where + ":" + std::to_string(at)));
    }
    const auto found = models.hypotheses(tokens, options);
    std::string shown;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      ++number;
      if (!found[i].empty()) sure.push_back(std::exp(found[i][0].log_probability));
      shown += command.json ? json_of(lines[i], found[i], models, options.threads)
                            : text_of(command, number, lines[i], found[i], models);
    }
    print(shown);
  }
  tell_taught(models.folders()[0].taught, sure);
  if (number == 0) throw Error(where, "must hold some text, got none");
}

}  // namespace

void add_translate(CLI::App& program, Job& job) {
  CLI::App& command =
      *program.add_subcommand("translate",
                              "translate lines of text with a trained model\n"
                              "Translates one sentence per line, in order; an empty line stays "
                              "empty. Lines of stdin are translated as they arrive.");
  auto translate = std::make_shared<Translate>();
  translate->model.add_to(command, true)->required();
  translate->text.add_to(command, "the text to translate, one sentence per line");
  add_search(command, translate->options.search,
             {.field = "n_best",
              .meaning = "translations per line, each with the line's number and a score"});
  command.add_flag("--json", translate->json,
                   "one object per line: source and translations with their scores");
  command.footer(
      "Examples:\n"
      "  sextant translate --model runs/dates \"the third of March 2021\"\n"
      "  sextant translate --model runs/plays --beams 8 --file scene.txt > modern.txt\n"
      "  tail -f lines.txt | sextant translate --model runs/plays -");
  command.callback([translate, &command, &job] {
    translate->text.check("translate.text");
    translate->n_best_given = command.count("--n-best") > 0;
    const BeamSearchOptions& search = translate->options.search;
    if (search.n_best > search.beams) {
      throw Error("translate.n-best", "must be 1 .. " + std::to_string(search.beams) +
                                          ", the beams, got " + std::to_string(search.n_best));
    }
    job = [translate] { run(*translate); };
  });
}

}  // namespace sextant::app

// `sextant compare`: does the order of the words matter?
#include <memory>

#include "calls/calls.h"
#include "commands.h"
#include "options/file_arguments.h"
#include "options/scheme_choice.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/figures/last_word_sum.h"
#include "sextant/layers/applied_positions.h"
#include "sextant/lessons/last_word_sum.h"
#include "sextant/lessons/order_lab.h"
#include "sextant/lessons/sentence_attention.h"
#include "sextant/text/segment.h"
#include "streams/table_output.h"

namespace sextant::app {
namespace {

constexpr Format kCompareFormats[] = {Format::text, Format::csv, Format::json, Format::svg,
                                      Format::png,  Format::pdf, Format::html};

struct Compare {
  std::string first;
  std::string second;
  bool lab = false;
  OrderLabOptions lab_options;
  std::string words;  // of the lab's vocabulary
  Splitting splitting;
  SentenceAttentionOptions options;
  SchemeChoice choice;
  Output output;
  CallChoice call;
};

std::string numbers_in(View<const double> row) {
  std::string text;
  for (std::int64_t i = 0; i < row.size(0); ++i) text += (i > 0 ? " " : "") + shortest(row(i));
  return text;
}

View<const double> last_row(const Tensor<double>& table) {
  return table.view().select(0, table.size(0) - 1);
}

std::string lab_text(const std::string& sentence, const OrderLab::Result& result) {
  std::string text = sentence + "\n  the last token, '" + result.tokens.back() + "':\n";
  text += "    scores   " + numbers_in(last_row(result.scores)) + "\n";
  text += "    weights  " + numbers_in(last_row(result.weights)) + "\n";
  for (std::int64_t row = 0; row < result.values.size(0); ++row) {
    text += (row == 0 ? "    values   " : "             ") +
            numbers_in(result.values.view().select(0, row)) + "\n";
  }
  return text + "    output   " + numbers_in(last_row(result.output)) + "\n";
}

Json lab_json(const std::string& sentence, const OrderLab::Result& result) {
  Json json;
  json["text"] = sentence;
  json["tokens"] = result.tokens;
  json["scores"] = rows_as_json(result.scores.view());
  json["weights"] = rows_as_json(result.weights.view());
  json["values"] = rows_as_json(result.values.view());
  json["output"] = rows_as_json(result.output.view());
  json["last"] = {{"scores", rows_as_json(last_row(result.scores))},
                  {"weights", rows_as_json(last_row(result.weights))},
                  {"output", rows_as_json(last_row(result.output))}};
  return json;
}

Json sentence_json(const std::string& sentence, const SentenceAttention& result) {
  Json json;
  json["text"] = sentence;
  json["tokens"] = result.queries;
  json["weights"] = rows_as_json(result.weights.view());
  json["output"] = rows_as_json(result.output.view());
  json["last"] = {
      {"weights", rows_as_json(result.weights.view().select(1, result.weights.size(1) - 1))},
      {"output", rows_as_json(last_row(result.output))}};
  return json;
}

// Returns the weights of the last token, heads side by side.
std::string sentence_text(const std::string& sentence, const SentenceAttention& result) {
  std::vector<std::vector<std::string>> rows(1, {"  looks at"});
  for (std::int64_t head = 0; head < result.weights.size(0); ++head) {
    rows[0].push_back("head " + std::to_string(head));
  }
  for (std::size_t key = 0; key < result.keys.size(); ++key) {
    rows.push_back({"  " + result.keys[key]});
    for (std::int64_t head = 0; head < result.weights.size(0); ++head) {
      rows.back().push_back(fixed(result.weights(head, result.weights.size(1) - 1, key), 6));
    }
  }
  return sentence + "\n  the last token, '" + result.queries.back() + "':\n" + aligned(rows);
}

void finish(const Compare& compare, const OrderDifference& found, const std::string& text,
            const Json& first, const Json& second) {
  const std::string verdict = found.verdict(compare.choice.title());
  if (compare.output.format(kCompareFormats, "compare").value_or(Format::text) == Format::text) {
    return write_result(compare.output, Format::text, text + verdict + "\n");
  }
  Json json;
  json["same"] = found.same;
  json["last_differs"] = found.last_differs;
  json["largest_difference"] = found.largest_difference;
  json["distance"] = found.distance;
  json["why"] = found.why;
  json["verdict"] = verdict;
  json["model"] = compare.lab ? "lab" : "sentence";
  json["scheme"] = compare.choice.scheme;
  json["parameters"] = compare.choice.given_parameters();
  json["first"] = first;
  json["second"] = second;
  write_result(compare.output, Format::json, to_text(json) + "\n");
}

bool wants_sum(const Compare& compare) {
  const Format format = compare.output.format(kCompareFormats, "compare").value_or(Format::text);
  return format != Format::text && format != Format::json;
}

// Draws the reason: the term of each word in the sum of the last one.
void write_sum(const Compare& compare, const figures::WordTerms& first,
               const figures::WordTerms& second) {
  const figures::Figure figure = figures::plot_last_word_sum(
      first, second, "What the last word gets, " + compare.choice.title(),
      compare.output.max_width);
  TableNames names;
  static_cast<figures::TableLabels&>(names) = figure.labels;
  names.draw = [&figure] { return figure.picture; };
  write_table<double>(figure.values.view(), names, compare.output,
                      *compare.output.format(kCompareFormats, "compare"));
}

// Weight times value of each word, of the toy model.
figures::WordTerms terms_of(const OrderLab::Result& result) {
  figures::WordTerms terms{result.tokens, result.values.clone()};
  const View<const double> weights = last_row(result.weights);
  for (std::int64_t word = 0; word < terms.terms.size(0); ++word) {
    for (std::int64_t i = 0; i < terms.terms.size(1); ++i) terms.terms(word, i) *= weights(word);
  }
  return terms;
}

void check(const Compare& compare) {
  compare.choice.check();
  compare.output.format(kCompareFormats, "compare");
}

// A scheme that the laboratory's own width has no room for is refused with the option that helps.
void check_room(const OrderLabOptions& options, const SchemeSpecs& schemes) {
  try {
    const AppliedPositions<double> fitting(
        {.schemes = schemes, .width = options.width, .head_dim = options.width}, 1);
  } catch (const Error& error) {
    if (options.width != OrderLabOptions().width) throw;
    const std::string problem = error.what();
    throw Error(error.where(), problem.substr(error.where().size() + 3) +
                                   "; --width 12 is a toy model with room for every scheme");
  }
}

void run(Compare& compare) {
  compare.first = read_text(compare.first, "compare.first", kLongestShownText);
  compare.second = read_text(compare.second, "compare.second", kLongestShownText);
  if (compare.lab) {
    const Splitting spaces{.split = "spaces"};  // as the toy model does
    spaces.tokens(compare.first, "compare.first");
    spaces.tokens(compare.second, "compare.second");
    if (!compare.words.empty()) compare.lab_options.words = split_spaces(compare.words);
    check_room(compare.lab_options, compare.choice.positions());
    const OrderLab lab(compare.lab_options);
    const auto verdict = lab.compare(compare.first, compare.second, compare.choice.positions());
    if (wants_sum(compare)) {
      return write_sum(compare, terms_of(verdict.first), terms_of(verdict.second));
    }
    return finish(compare, verdict,
                  lab_text(compare.first, verdict.first) + lab_text(compare.second, verdict.second),
                  lab_json(compare.first, verdict.first), lab_json(compare.second, verdict.second));
  }
  compare.options.schemes = compare.choice.positions();
  const auto weights = compare.choice.weights();
  compare.options.weights = weights ? &*weights : nullptr;
  compare.options.causal = true;
  const auto first = compare.splitting.tokens(compare.first, "compare.first");
  const auto second = compare.splitting.tokens(compare.second, "compare.second");
  if (compare.call.is_given()) {
    return compare.call.print(call_of(compare.options, first, second));
  }
  if (wants_sum(compare)) {
    return write_sum(compare, {first, last_word_terms(first, compare.options)},
                     {second, last_word_terms(second, compare.options)});
  }
  const auto verdict = compare_order(first, second, compare.options);
  finish(
      compare, verdict,
      sentence_text(compare.first, verdict.first) + sentence_text(compare.second, verdict.second),
      sentence_json(compare.first, verdict.first), sentence_json(compare.second, verdict.second));
}

}  // namespace

void add_compare(CLI::App& program, Job& job) {
  CLI::App& command =
      *program.add_subcommand("compare",
                              "whether the order of the words matters\n"
                              "Runs causal attention over two sentences and compares the outputs "
                              "of their last tokens. Without positions any reordering of the "
                              "earlier words gives the same output; with them it differs. "
                              "Both sentences must have the same words and end in the same "
                              "one, such as a full stop.");
  auto compare = std::make_shared<Compare>();
  text_or_stdin(command.add_option("FIRST", compare->first, "one sentence; - reads stdin"))
      ->required();
  text_or_stdin(command.add_option("SECOND", compare->second,
                                   "the same words in another order; - reads stdin"))
      ->required();
  auto* lab =
      command.add_flag("--lab", compare->lab,
                       "the toy model of six words (<pad> the zebra chased lion .), width 3, seed "
                       "2311: prints every number with all digits; tokens are separated by spaces");
  command
      .add_option("--words", compare->words,
                  "with --lab: another vocabulary, words separated by spaces")
      ->type_name("WORDS")
      ->needs(lab);
  compare->splitting.add_to(command);
  add_model(command, compare->options);
  for (const char* name : {"--split", "--lower-case", "--heads"}) {
    lab->excludes(command.get_option(name));  // the toy model has its own
  }
  compare->output.add_to(
      command, kCompareFormats,
      "save as .json, or the sum of the last token, word by word, as .svg .png .pdf "
      ".html (both orders as walks) or .csv");
  compare->choice.add_to(command, "none", nullptr, true);
  compare->call.add_to(command);
  for (const char* name : {"--scheme-weights", "--print-call"}) {
    lab->excludes(command.get_option(name));
  }
  command.get_option("--print-call")->excludes(command.get_option("--scheme-weights"));
  command.footer(
      "Examples:\n"
      "  sextant compare \"the zebra chased the lion .\" \"the lion chased the zebra .\" --lab\n"
      "  sextant compare \"the zebra chased the lion .\" \"the lion chased the zebra .\" --lab "
      "--scheme sinusoidal\n"
      "  sextant compare \"a b c\" \"b a c\" --lab --words \"a b c\" --width 8 --scheme rotary\n"
      "  sextant compare \"dog bites man!\" \"man bites dog!\" --scheme rotary --json\n"
      "  sextant compare \"dog bites man!\" \"man bites dog!\" -o sum.svg\n"
      "The exit code is 0 either way; --json says {\"same\": true or false, ...}.");
  command.callback([compare, &command, &job] {
    if (command.count("--width") > 0) compare->lab_options.width = compare->options.width;
    if (command.count("--seed") > 0) compare->lab_options.seed = compare->options.seed;
    check(*compare);
    job = [compare] { run(*compare); };
  });
}

}  // namespace sextant::app

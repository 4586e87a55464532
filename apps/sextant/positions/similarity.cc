// `sextant similarity`: how similar two words are, with and without positions.
#include <algorithm>
#include <memory>
#include <optional>

#include "commands.h"
#include "options/field_options.h"
#include "options/file_arguments.h"
#include "options/scheme_choice.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/core/numbers.h"
#include "sextant/hub/load_pretrained.h"
#include "sextant/lessons/similarity.h"
#include "sextant/lessons/word_arithmetic.h"
#include "sextant/text/segment.h"
#include "sextant/text/word_text.h"
#include "streams/table_output.h"
#include "text/skip_gram_fields.h"

namespace sextant::app {
namespace {

struct Similarity {
  std::string first;
  std::string second;
  std::string nearest;  // a sum of words
  std::int64_t count = 10;
  std::string text;
  std::string vectors;
  std::string model;
  std::optional<std::pair<std::int64_t, std::int64_t>> positions;
  std::string save_vectors;
  SkipGram training;
  bool width_given = false;  // training.width
  SchemeChoice choice;
  Output output;
};

// Where vectors come from that are not trained here; empty: nowhere.
const std::string& made_before(const Similarity& similarity) {
  return similarity.vectors.empty() ? similarity.model : similarity.vectors;
}

WordVectors make_vectors(const Similarity& similarity, const WordText* text) {
  if (const std::string& from = made_before(similarity); !from.empty()) {
    WordVectors vectors =
        similarity.model.empty() ? WordVectors::load(from) : learned_word_vectors(open_model(from));
    const std::int64_t width = similarity.training.width;
    if (similarity.width_given && width != vectors.width()) {
      throw Error("similarity.width", "must be the width of " + from + ", " +
                                          std::to_string(vectors.width()) + ", got " +
                                          std::to_string(width));
    }
    return vectors;
  }
  const Progress progress("training word vectors ...");
  return WordVectors::train(text->sentences, similarity.training);
}

std::pair<std::int64_t, std::int64_t> find_positions(const Similarity& similarity,
                                                     const WordText* text, const std::string& first,
                                                     const std::string& second) {
  return similarity.positions ? *similarity.positions
                              : text->places(first, second, "similarity.positions");
}

void check(const Similarity& similarity) {
  const bool has_text = !similarity.text.empty();
  const bool is_made = !made_before(similarity).empty();
  similarity.output.format(kTextOrJson, "similarity");
  if (!is_made && !has_text) {
    throw CLI::RequiredError(
        "--file FILE to train word vectors on, --vectors FILE.vec, or --model DIR,");
  }
  if (!similarity.nearest.empty()) {
    parse_word_sum(similarity.nearest, "similarity.nearest");
    return;
  }
  if (similarity.second.empty()) throw CLI::RequiredError("FIRST and SECOND, or --nearest");
  if (is_made && has_text == similarity.positions.has_value()) {
    throw Error("similarity.positions",
                has_text
                    ? "must not be given together with --file: with --vectors or --model a "
                      "text only gives the positions of the words"
                    : "must be given with --vectors or --model, unless --file gives the words");
  }
  similarity.choice.check();
}

// A word as it was written, else as the lower-cased text has it.
std::string known(const WordVectors& vectors, const std::string& word) {
  check_utf8(word, "similarity.word");
  return vectors.contains(word) ? word : lower_case(word);
}

void show_nearest(const Similarity& similarity, const WordVectors& vectors) {
  auto terms = parse_word_sum(similarity.nearest, "similarity.nearest");
  for (WordTerm& term : terms) term.word = known(vectors, term.word);
  const auto found = nearest_words(vectors, terms, similarity.count);
  if (similarity.output.format(kTextOrJson, "similarity").value_or(Format::text) == Format::json) {
    Json json = Json::array();
    for (const NearestWord& one : found) {
      json.push_back({{"word", one.word}, {"similarity", one.similarity}});
    }
    return write_result(similarity.output, Format::json, to_text(json) + "\n");
  }
  std::vector<std::vector<std::string>> rows;
  for (const NearestWord& one : found) rows.push_back({one.word, shortest(one.similarity)});
  write_result(similarity.output, Format::text, aligned(rows, false));
}

void run(Similarity& similarity) {
  std::optional<WordText> text;
  if (!similarity.text.empty()) {
    text = WordText::parse(similarity.text == "-" ? read_stdin() : read_file(similarity.text),
                           similarity.text);
  }
  const WordText* text_or_null = text ? &*text : nullptr;
  const WordVectors vectors = make_vectors(similarity, text_or_null);
  if (!similarity.save_vectors.empty()) vectors.save(similarity.save_vectors);
  if (!similarity.nearest.empty()) return show_nearest(similarity, vectors);
  const std::string first = known(vectors, similarity.first);
  const std::string second = known(vectors, similarity.second);
  const auto [at_first, at_second] = find_positions(similarity, text_or_null, first, second);
  Sinusoidal options = sinusoidal_from(similarity.choice.parameters);
  options.width = vectors.width();
  const MixedSimilarity alike =
      mixed_similarity(vectors, first, second, at_first, at_second, options);

  if (similarity.output.format(kTextOrJson, "similarity").value_or(Format::text) == Format::json) {
    Json json;
    json["words"] = {first, second};
    json["positions"] = {at_first, at_second};
    json["width"] = options.width;
    json["exponent"] = name_of(options.exponent);
    json["parameters"] = similarity.choice.given_parameters();
    json["word"] = alike.word;
    json["position"] = alike.position;
    json["both"] = alike.both;
    return write_result(similarity.output, Format::json, to_text(json) + "\n");
  }
  std::string shown = "cosine similarity of '" + first + "' at position " +
                      std::to_string(at_first) + " and '" + second + "' at position " +
                      std::to_string(at_second) + ", width " + std::to_string(options.width) + "\n";
  shown += aligned({{"  word", shortest(alike.word), "the two word vectors"},
                    {"  position", shortest(alike.position), "the two rows of the table"},
                    {"  both", shortest(alike.both), "sqrt(width) * word + position"}},
                   false);
  if (options.exponent != Exponent::standard) {
    shown += "note: exponent " + std::string(name_of(options.exponent)) +
             " is a common mistake, not the formula\n";
  }
  write_result(similarity.output, Format::text, shown);
}

}  // namespace

void add_similarity(CLI::App& program, Job& job) {
  CLI::App& command = *program.add_subcommand(
      "similarity",
      "how similar two words are, with and without positions\n"
      "Prints three cosine similarities of two words: of their vectors (skip-gram vectors trained "
      "on the text, vectors from a file, or those of a model), of the sinusoidal encodings of "
      "their positions, and of the sum, sqrt(width) * word + position.");
  auto similarity = std::make_shared<Similarity>();
  auto* first = command.add_option("FIRST", similarity->first, "one word");
  command.add_option("SECOND", similarity->second, "another word")->needs(first);
  auto* nearest = command
                      .add_option("--nearest", similarity->nearest,
                                  "list the words nearest to a sum of words, such as \"king - boy "
                                  "+ girl\", without the words of the sum")
                      ->type_name("SUM")
                      ->excludes(first);
  add_integer(command, "--count", similarity->count, 1, kMaxInteger,
              "number of nearest words (default 10)")
      ->needs(nearest);
  input_file(command.add_option("--file", similarity->text,
                                "train the vectors on this file, lower-cased; - reads stdin"));
  auto* vectors = input_file(command.add_option("--vectors", similarity->vectors,
                                                "load vectors from this .vec file instead"));
  auto* model = input_file(command.add_option("--model", similarity->model,
                                              "use the embedding of this model of `sextant train`"),
                           "DIR")
                    ->excludes(vectors);
  auto* positions =
      command
          .add_option_function<std::string>(
              "--positions",
              [similarity = similarity.get()](const std::string& text) {
                similarity->positions = parse_pair(text, "similarity.positions");
              },
              "positions of the two words, such as 2,10, counted from 0 (default: those in the "
              "first sentence that has both, else in the first that has each)")
          ->type_name("A,B");
  positions->excludes(nearest);
  add_fields(
      command, similarity->training, "",
      only<SkipGram>(
          {{.field = "width",
            .default_text = std::to_string(SkipGram().width) + ", or that of --vectors or --model",
            .meaning = "width of vectors and positions"},
           {.field = "window", .meaning = "training: context words on either side"},
           {.field = "epochs", .meaning = "training: passes over the text"},
           {.field = "minimum_count",
            .option = "--min-count",
            .meaning = "training: rarer words get no vector"},
           {.field = "seed"}}));
  for (const char* name : {"--window", "--epochs", "--min-count", "--seed"}) {
    command.get_option(name)->excludes(vectors)->excludes(model);  // they are trained already
  }
  output_file(command.add_option("--save-vectors", similarity->save_vectors,
                                 "save the vectors as a .vec file"));
  similarity->output.add_to(command, kTextOrJson, "save as .json");
  similarity->choice.add_to(command, "sinusoidal", [](const Scheme& scheme) -> std::string {
    if (scheme.name == "sinusoidal") return "";
    return "must be one of sinusoidal";
  });
  command.footer(
      "Examples:\n"
      "  sextant similarity black brown --file story.txt --positions 2,10 --width 512\n"
      "  sextant similarity black brown --file story.txt --positions 2,10 --doubled-exponent\n"
      "  sextant similarity king queen --vectors wiki.vec --positions 0,5 --json\n"
      "  sextant similarity --nearest \"king - boy + girl\" --vectors wiki.vec");
  command.callback([similarity, &command, &job] {
    similarity->width_given = command.count("--width") > 0;
    check(*similarity);
    job = [similarity] { run(*similarity); };
  });
}

}  // namespace sextant::app

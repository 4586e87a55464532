// `sextant tokenize`: a text as sentences and words, or as the numbered tokens of a model.
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "commands.h"
#include "options/file_arguments.h"
#include "options/options.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/models/model_folder.h"
#include "sextant/text/pretrained_tokenizer.h"
#include "sextant/text/segment.h"
#include "sextant/text/subword.h"
#include "sextant/text/vocabulary.h"
#include "sextant/text/word_text.h"
#include "sextant/training/tasks/text_data.h"
#include "streams/console.h"
#include "streams/table_output.h"

namespace sextant::app {
namespace {

struct Tokenize {
  TextInput input;
  std::string model;
  std::string vocabulary;
  bool eos = false;
  std::optional<std::int64_t> length;
  std::string documents;
  Output output;

  bool to_token_file() const { return output.path.ends_with(".safetensors"); }
};

struct Tokens {
  std::vector<std::string> tokens;
  std::vector<std::int64_t> ids;
  std::vector<TokenOffsets> offsets = {};  // of a published model's tokenizer alone

  void add(const std::string& token, std::int64_t id) {
    tokens.push_back(token);
    ids.push_back(id);
  }
};

// A text's tokens and its end token, cut or padded to the length; the end token stays.
struct Special {
  std::string token;
  std::int64_t id;
};
void finish(Tokens& tokens, const Tokenize& command, const Special& eos, const Special& pad) {
  if (command.length) {
    const auto length = static_cast<std::size_t>(*command.length);
    const std::size_t room = length - (command.eos ? 1 : 0);
    if (tokens.ids.size() > room) {
      note("--length " + std::to_string(length) + " leaves out " +
           std::to_string(tokens.ids.size() - room) + " of the text's " +
           std::to_string(tokens.ids.size()) + " tokens");
      tokens.ids.resize(room);
      tokens.tokens.resize(room);
    }
  }
  if (command.eos) tokens.add(eos.token, eos.id);
  while (command.length && std::cmp_less(tokens.ids.size(), *command.length)) {
    tokens.add(pad.token, pad.id);
  }
}

Tokens of_subwords(const Tokenize& command, const std::string& text) {
  const auto model = SubwordTokenizer::load(command.model);
  Tokens tokens{model.pieces(text), model.encode(text)};
  finish(tokens, command, {"[EOS]", model.eos()}, {"[PAD]", model.pad()});
  return tokens;
}

// The tokenizer.json of a published model, or nothing where `path` has none or one of ours.
std::optional<PretrainedTokenizer> pretrained_at(const std::string& path) {
  const bool folder = std::filesystem::is_directory(path);
  const std::string file = folder ? path + "/tokenizer.json" : path;
  if ((!folder && !path.ends_with(".json")) || !std::filesystem::exists(file)) return {};
  const std::string json = read_file(file, std::uint64_t{1} << 28);
  if (!PretrainedTokenizer::recognizes(json)) return {};
  return PretrainedTokenizer::parse(json, file);
}

// Refuses options that need tokens which other models' tokenizers may not have.
void refuse_options_of_ours(const Tokenize& command) {
  const auto refuse = [](const char* name) {
    throw Error(std::string("tokenize.") + name,
                "must not be given with the tokenizer of a published model");
  };
  if (command.eos) refuse("eos");
  if (command.length) refuse("length");
}

Tokens of_pretrained(const PretrainedTokenizer& tokenizer, const std::string& text) {
  PretrainedEncoding made = tokenizer.encode(text);
  return {std::move(made.tokens), std::move(made.ids), std::move(made.offsets)};
}

Tokenizer tokenizer_in(const std::string& folder) {
  if (folder.ends_with("/tokenizer.json")) return tokenizer_in(folder.substr(0, folder.rfind('/')));
  if (std::filesystem::exists(folder + "/tokenizer.json")) return Tokenizer::load(folder);
  return open_model_folder(folder).tokenizer;
}

Tokens of_model_folder(const Tokenize& command, const std::string& text) {
  const Tokenizer tokenizer = tokenizer_in(command.model);
  Tokens tokens{tokenizer.tokens(text), tokenizer.encode(text)};
  finish(tokens, command, {tokenizer.piece(Tokenizer::kEos), Tokenizer::kEos},
         {tokenizer.piece(Tokenizer::kPad), Tokenizer::kPad});
  return tokens;
}

Tokens of_vocabulary(const Tokenize& command, const std::string& text) {
  const Vocabulary vocabulary = Vocabulary::load(command.vocabulary);
  Tokens tokens;
  for (const std::int64_t id : vocabulary.encode(text)) tokens.add(vocabulary.token(id), id);
  return tokens;
}

void check(const Tokenize& tokenize) {
  tokenize.input.check("tokenize.text");
  if (tokenize.model.empty() && (tokenize.eos || tokenize.length)) {
    throw CLI::RequiredError("--model for --eos and --length");
  }
  if (!tokenize.to_token_file()) {
    if (!tokenize.documents.empty()) {
      throw Error("tokenize.documents", "must be given with -o NAME.safetensors only");
    }
  } else {
    if (tokenize.model.empty()) throw CLI::RequiredError("--model for -o NAME.safetensors");
    if (tokenize.input.file.empty()) throw CLI::RequiredError("--file for -o NAME.safetensors");
    const auto refuse = [](const char* name) {
      throw Error(std::string("tokenize.") + name, "must not be given with -o NAME.safetensors");
    };
    if (tokenize.eos) refuse("eos");
    if (tokenize.length) refuse("length");
    if (tokenize.output.json) refuse("json");
    if (!tokenize.output.format_name.empty()) refuse("format");
    return;
  }
  tokenize.output.format(kTextOrJson, "tokenize");
}

// Without numbers: a line per sentence.
void show_sentences(const Tokenize& tokenize, const std::string& text) {
  const WordText words = WordText::parse(text, "tokenize.text");
  if (tokenize.output.format(kTextOrJson, "tokenize").value_or(Format::text) == Format::json) {
    Json json;
    json["sentences"] = words.sentences;
    return write_result(tokenize.output, Format::json, to_text(json) + "\n");
  }
  std::string lines;
  for (const std::vector<std::string>& sentence : words.sentences) {
    for (const std::string& word : sentence) lines += (&word == &sentence[0] ? "" : " ") + word;
    lines += "\n";
  }
  write_result(tokenize.output, Format::text, lines);
}

// For training, from a text of any size.
void write_token_file(const Tokenize& tokenize) {
  const Tokenizer tokenizer = tokenizer_in(tokenize.model);
  const DocumentUnit documents =
      tokenize.documents.empty()
          ? DocumentUnit::none
          : parse_name<DocumentUnit>(tokenize.documents, "tokenize.documents");
  const std::string& file = tokenize.input.file;
  const std::string path = file == "-" ? "/dev/stdin" : file;
  tokenize_texts(std::span(&path, 1), tokenizer, documents, tokenize.output.path);
}

Tokens of_model(const Tokenize& tokenize, const std::optional<PretrainedTokenizer>& pretrained,
                const std::string& text) {
  if (pretrained) return of_pretrained(*pretrained, text);
  if (!tokenize.vocabulary.empty()) return of_vocabulary(tokenize, text);
  return std::filesystem::is_directory(tokenize.model) ? of_model_folder(tokenize, text)
                                                       : of_subwords(tokenize, text);
}

void run(const Tokenize& tokenize) {
  const auto pretrained = pretrained_at(tokenize.model);
  if (pretrained) refuse_options_of_ours(tokenize);
  if (tokenize.to_token_file()) return write_token_file(tokenize);
  const std::string text = tokenize.input.read("tokenize.text");
  if (tokenize.model.empty() && tokenize.vocabulary.empty()) return show_sentences(tokenize, text);
  const Tokens tokens = of_model(tokenize, pretrained, text);
  if (tokenize.output.format(kTextOrJson, "tokenize").value_or(Format::text) == Format::json) {
    Json json;
    json["tokens"] = tokens.tokens;
    json["ids"] = tokens.ids;
    if (pretrained) {
      json["offsets"] = Json::array();
      for (const TokenOffsets& each : tokens.offsets) {
        json["offsets"].push_back(Json::array({each.begin, each.end}));
      }
    }
    return write_result(tokenize.output, Format::json, to_text(json) + "\n");
  }
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < tokens.ids.size(); ++i) {
    rows.push_back({std::to_string(tokens.ids[i]), token_label(tokens.tokens[i])});
    if (pretrained) {
      const TokenOffsets& at = tokens.offsets[i];
      rows.back().push_back(std::to_string(at.begin) + " .. " + std::to_string(at.end));
    }
  }
  write_result(tokenize.output, Format::text, aligned(rows, false));
}

}  // namespace

void add_tokenize(CLI::App& program, Job& job) {
  CLI::App& command = *program.add_subcommand(
      "tokenize",
      "split a text into tokens and their ids\n"
      "Prints the id and the token of each part of a text: by a SentencePiece model, by the "
      "tokenizer of a trained model, by the tokenizer.json of a published one (with the range of "
      "bytes of each token), or by a vocabulary of words. Without any of them it prints the "
      "sentences, one per line, as lower-cased words and punctuation marks.");
  auto tokenize = std::make_shared<Tokenize>();
  tokenize->input.add_to(command, "the text");
  auto* model =
      input_file(command.add_option("--model", tokenize->model,
                                    "a SentencePiece model, the folder of a trained model, or a "
                                    "tokenizer.json or its folder"),
                 "FILE or DIR");
  auto* vocabulary = input_file(command.add_option("--vocabulary", tokenize->vocabulary,
                                                   "a vocabulary from `sextant vocabulary -o`; "
                                                   "words that are not in it become its OOV token"),
                                "FILE.json")
                         ->excludes(model);
  command.add_flag("--eos", tokenize->eos, "end with the model's [EOS] or <eos>")
      ->excludes(vocabulary);
  add_integer(command, "--length", tokenize->length, 1, kMaxSize,
              "length of the result: truncated, keeping the end token, with a note on stderr, or "
              "padded with [PAD] or <pad>")
      ->excludes(vocabulary);
  std::vector<std::string> units;
  for (const std::string_view name : names_of<DocumentUnit>()) units.emplace_back(name);
  command
      .add_option("--documents", tokenize->documents,
                  "with -o NAME.safetensors: the unit of a document, which ends with <eos>, as in "
                  "`sextant train`")
      ->type_name("NAME")
      ->check(one_of("tokenize.documents", units));
  tokenize->output.add_to(
      command, kTextOrJson,
      "save as .json, or as .safetensors, which `sextant train lm --file` reads");
  command.footer(
      "Examples:\n"
      "  sextant tokenize --file story.txt\n"
      "  sextant tokenize --file plays.txt --model run -o tokens.safetensors\n"
      "  sextant tokenize \"To be, or not to be\" --model m.model --eos --length 12\n"
      "  sextant tokenize \"what is attention\" --vocabulary words.json --json");
  command.callback([tokenize, &job] {
    check(*tokenize);
    job = [tokenize] { run(*tokenize); };
  });
}

}  // namespace sextant::app

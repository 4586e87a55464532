// Writes tokens while the text is read; later the file is read.
#include "training/tasks/text_tokens.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <limits>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "core/files/exists.h"
#include "core/files/file_filler.h"
#include "core/json/fields_json.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/training/checkpoint.h"
#include "sextant/training/group.h"
#include "text/files/token_file_writer.h"
#include "text/tokenizer_fields.h"
#include "text/tokenizer_trainer.h"
#include "training/runs/fsync.h"
#include "training/tasks/data_file.h"
#include "training/tasks/task_fields.h"
#include "training/tasks/text_source.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;

std::string data_folder(const std::string& run) { return run + "/data"; }
std::string tokens_path(const std::string& run) { return data_folder(run) + "/tokens.safetensors"; }

// Returns what the tokens of texts depend on, besides the tokenizer.
std::string source_of(const TrainingSettings& settings) {
  Json json = Json::array();
  for (const DataFile& file : settings.files) json.push_back(file.checksum);
  return checksum_of(Json{{"texts", json},
                          {"documents", name_of(settings.documents)},
                          {"held_out", settings.held_out},
                          {"tokenizer", to_json(settings.tokenizer)}}
                         .dump());
}

// The folder of a new run while nothing else is in it.
class NewData {
 public:
  explicit NewData(std::string run) : run_(std::move(run)) {
    std::error_code none;
    for (fs::path at = data_folder(run_); !at.empty() && !fs::exists(at, none);
         at = at.parent_path()) {
      made_.push_back(at);
    }
    make_folder(data_folder(run_));
  }
  NewData(const NewData&) = delete;
  NewData& operator=(const NewData&) = delete;
  ~NewData() {
    std::error_code ignored;
    if (fs::is_symlink(run_ + "/last", ignored)) return;
    for (const char* name : {"tokens.safetensors", "tokenizer.json", "tokenizer.model"}) {
      fs::remove(data_folder(run_) + "/" + name, ignored);
    }
    for (const fs::path& folder : made_) fs::remove(folder, ignored);  // where it is empty
  }

 private:
  std::string run_;
  std::vector<fs::path> made_;  // deepest first
};

// Returns tokens that fit the texts and the tokenizer (none: the one in their folder), or nothing.
std::optional<TextTokens> find_tokens(const std::string& run, const std::string& source,
                                      const std::optional<Tokenizer>& tokenizer) {
  if (run.empty() || !exists(tokens_path(run))) return std::nullopt;
  try {
    TextTokens found{tokenizer ? *tokenizer : Tokenizer::load(data_folder(run)), {}};
    found.file = load_token_file(tokens_path(run), found.tokenizer.size());
    if (found.file.source == source && found.file.training > 0 &&
        found.file.tokenizer == found.tokenizer.checksum()) {
      return found;
    }
  } catch (const Error&) {  // damaged: they are made again
  }
  return std::nullopt;
}

Tokenizer tokenizer_of(const TextSource& texts, const TokenizerTraining& options) {
  TokenizerTrainer trainer(options);
  texts.visit_training({.text = [&](std::string_view piece) { trainer.add(piece); },
                        .end_document = {},
                        .end_text = [&] { trainer.end_text(); }});
  return trainer.finish();
}

// Tokens in memory, as few bytes each as they need.
struct TokensInMemory {
  bool wide;
  std::vector<std::uint16_t> narrow_ids{};
  std::vector<std::uint32_t> wide_ids{};
  std::vector<std::int64_t> ends{};

  std::uint64_t count() const { return narrow_ids.size() + wide_ids.size(); }
  void add(std::span<const std::int64_t> ids) {
    for (const std::int64_t id : ids) {
      if (wide) {
        wide_ids.push_back(static_cast<std::uint32_t>(id));
      } else {
        narrow_ids.push_back(static_cast<std::uint16_t>(id));
      }
    }
  }
  void end_document() { ends.push_back(static_cast<std::int64_t>(count())); }
};

// Adds tokens, and <eos> after each document.
template <class Tokens>
TextSource::Visitor adding(const Tokenizer& tokenizer, Tokens& tokens) {
  return {.text = [&](std::string_view piece) { tokens.add(tokenizer.encode(piece)); },
          .end_document =
              [&] {
                const std::int64_t eos = tokenizer.special().eos;
                if (eos < 0) {
                  throw Error("train.documents",
                              "must be none with a tokenizer without a token that ends texts");
                }
                tokens.add(std::span(&eos, 1));
                tokens.end_document();
              },
          .end_text = {}};
}

// Adds all tokens; returns how many are those to learn from.
template <class Tokens>
std::uint64_t encode(const TextSource& texts, const Tokenizer& tokenizer, Tokens& tokens) {
  const TextSource::Visitor visitor = adding(tokenizer, tokens);
  texts.visit_training(visitor);
  const std::uint64_t training = tokens.count();
  texts.visit_held_out(visitor);
  return training;
}

TokenFile encode_in_memory(const TextSource& texts, const Tokenizer& tokenizer) {
  TokensInMemory tokens{.wide = tokenizer.size() > std::numeric_limits<std::uint16_t>::max()};
  TokenFile file;
  file.training = encode(texts, tokenizer, tokens);
  file.tokens = tokens.wide ? TokenArray(std::move(tokens.wide_ids))
                            : TokenArray(std::move(tokens.narrow_ids));
  file.document_ends = TokenArray(std::move(tokens.ends));
  file.checksum = checksum_of({static_cast<const char*>(file.tokens.data()),
                               file.tokens.size() * file.tokens.bytes_each()});
  return file;
}

// `add` adds the tokens, and returns how many are those to learn from; 0: it does not say.
void write_tokens(const std::string& path, const TextSource& texts, const Tokenizer& tokenizer,
                  const std::string& source,
                  const std::function<std::uint64_t(text::TokenFileWriter&)>& add) {
  write_file_with(path, [&](int descriptor) {
    text::TokenFileWriter writer(descriptor, path, tokenizer.size(), texts.documents());
    TokenFile described;
    described.tokenizer = tokenizer.checksum();
    described.vocabulary = tokenizer.size();
    described.source = source;
    described.training = add(writer);
    writer.finish(described);
    return 0;
  });
}

text::LongLines lines_for(TokenizerKind kind) {
  return kind == TokenizerKind::subword ? text::LongLines::whole : text::LongLines::split;
}

// Reads tokens that were made elsewhere. By default the end is held out, from a document's
// beginning on.
TextTokens tokens_from_file(TrainingSettings& settings, const std::optional<Tokenizer>& given) {
  DataFile& data = settings.files.front();
  const std::string folder = fs::path(data.path).parent_path().string();
  if (!given && !exists(folder + "/tokenizer.json")) {
    throw Error(
        "train.tokenizer-from",
        "must be given for tokens without a tokenizer.json in their folder, for " + data.path);
  }
  TextTokens found{given ? *given : Tokenizer::load(folder), {}};
  found.file = load_token_file(data.path, found.tokenizer.size());
  if (const std::string wanted = found.tokenizer.checksum(); found.file.tokenizer != wanted) {
    throw Error(data.path, "must be made by the tokenizer of checksum " + wanted +
                               ", got tokens of one of " + found.file.tokenizer);
  }
  check_data(data, found.file.checksum);
  if (found.file.training > 0) return found;
  const TokenArray& ends = found.file.document_ends;
  const std::size_t count = found.file.tokens.size();
  auto at = static_cast<std::size_t>(static_cast<double>(count) * (1 - settings.held_out));
  for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
    const auto end = static_cast<std::size_t>(ends[i]);
    if (end < at && i + 2 < ends.size()) continue;
    at = end;
    break;
  }
  found.file.training = at;
  return found;
}

}  // namespace

TextTokens text_tokens(TrainingPlan& plan, const std::optional<Tokenizer>& tokenizer,
                       bool resumed) {
  TrainingSettings& settings = plan.settings;
  const auto is_tokens = [](const DataFile& file) { return file.path.ends_with(".safetensors"); };
  if (std::ranges::any_of(settings.files, is_tokens)) {
    if (settings.files.size() > 1) {
      throw Error("train.file", "must be one file where it has tokens, got " +
                                    std::to_string(settings.files.size()));
    }
    if (settings.documents != DocumentUnit::none) {
      throw Error("train.documents", "must be none for tokens, whose file has the documents' ends");
    }
    return tokens_from_file(settings, tokenizer);
  }
  const std::string& run = plan.trainer.folder;
  const bool writes =
      !run.empty() && (plan.trainer.group == nullptr || plan.trainer.group->rank() == 0);
  if (writes && !resumed) RunFolder::check_new(run);
  const auto texts_are_there =
      std::ranges::all_of(settings.files, [](const DataFile& file) { return exists(file.path); });
  if (resumed && !texts_are_there) {
    if (auto found = find_tokens(run, source_of(settings), tokenizer)) return *std::move(found);
  }
  TextSource texts(settings, lines_for(tokenizer ? tokenizer->kind() : settings.tokenizer.kind));
  const std::string source = source_of(settings);
  if (auto found = find_tokens(run, source, tokenizer)) return *std::move(found);
  texts.divide();
  if (settings.documents != DocumentUnit::none && texts.documents() < 2) {
    throw Error("train.documents", "must give two documents or more, one to hold out, got " +
                                       std::to_string(texts.documents()));
  }
  std::shared_ptr<const void> kept;
  if (writes && !resumed) kept = std::make_shared<const NewData>(run);
  Tokenizer used = tokenizer ? *tokenizer : tokenizer_of(texts, settings.tokenizer);
  if (!writes) return {used, encode_in_memory(texts, used)};
  if (resumed) make_folder(data_folder(run));
  used.save(data_folder(run));
  write_tokens(tokens_path(run), texts, used, source,
               [&](text::TokenFileWriter& writer) { return encode(texts, used, writer); });
  TokenFile file = load_token_file(tokens_path(run), used.size());
  return {std::move(used), std::move(file), std::move(kept)};
}

void tokenize_texts(std::span<const std::string> paths, const Tokenizer& tokenizer,
                    DocumentUnit documents, const std::string& output) {
  TrainingSettings settings;
  for (const std::string& path : paths) settings.files.push_back({path});
  settings.documents = documents;
  TextSource texts(settings, lines_for(tokenizer.kind()));
  texts.divide();
  write_tokens(output, texts, tokenizer, "", [&](text::TokenFileWriter& writer) -> std::uint64_t {
    texts.visit_all(adding(tokenizer, writer));
    return 0;
  });
}

}  // namespace sextant

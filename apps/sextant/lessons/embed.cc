// `sextant embed`: the positional embedding layer over a batch of sentences.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands.h"
#include "options/options.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/core/random.h"
#include "sextant/layers/embedding.h"
#include "sextant/schemes/added/sinusoidal.h"
#include "sextant/text/segment.h"
#include "sextant/text/vocabulary.h"
#include "streams/console.h"
#include "streams/table_output.h"

namespace sextant::app {
namespace {

constexpr std::size_t kMostTokens = 4096;  // of a sentence
constexpr std::int64_t kWidth = 4, kSeed = 1;

struct Embed {
  std::vector<std::string> sentences;
  std::optional<std::int64_t> width, seed;
  Output output;
};

struct Batch {
  std::vector<std::vector<std::string>> tokens;  // of equal lengths, padding included
  Tensor<std::int64_t> ids;                      // [sentences, length], 0: padding
  Tensor<double> vectors;                        // [sentences, length, width]
  Tensor<bool> mask;                             // [sentences, 1, 1, length]
};

Batch embedded(const Embed& embed) {
  const std::string padding = "<pad>";
  std::vector<std::string> words{padding};
  const Vocabulary found = Vocabulary::from_sentences(embed.sentences, std::nullopt);
  words.insert(words.end(), found.tokens().begin(), found.tokens().end());
  const Vocabulary vocabulary(std::move(words));

  Batch batch;
  std::size_t length = 0;
  for (const std::string& sentence : embed.sentences) {
    batch.tokens.push_back(split_spaces(lower_case(sentence)));
    length = std::max(length, batch.tokens.back().size());
  }
  if (length > kMostTokens) {
    throw Error("embed.text", "must be at most " + std::to_string(kMostTokens) +
                                  " words a sentence, got " + std::to_string(length));
  }
  const auto sentences = static_cast<std::int64_t>(batch.tokens.size());
  const auto columns = static_cast<std::int64_t>(length);
  batch.ids = Tensor<std::int64_t>({sentences, columns});
  for (std::int64_t s = 0; s < sentences; ++s) {
    auto& tokens = batch.tokens[static_cast<std::size_t>(s)];
    tokens.resize(length, padding);
    for (std::int64_t i = 0; i < columns; ++i) {
      batch.ids(s, i) = vocabulary.index(tokens[static_cast<std::size_t>(i)]);
    }
  }
  const std::int64_t width = embed.width.value_or(kWidth);
  NumpyRandom random(static_cast<std::uint32_t>(embed.seed.value_or(kSeed)));
  const auto embedding =
      Embedding<double>::random(vocabulary.size(), width, random, vocabulary.index(padding));
  const auto positions = sinusoidal<double>(
      {.length = columns, .width = width, .layout = SinusoidalLayout::half_split});
  batch.vectors = embed_with_positions<double>(embedding, batch.ids.view(), positions.view());
  batch.mask = padding_mask(batch.ids.view(), vocabulary.index(padding));
  return batch;
}

std::string text_of(const Batch& batch) {
  std::string text;
  for (std::int64_t s = 0; s < batch.ids.size(0); ++s) {
    const auto& tokens = batch.tokens[static_cast<std::size_t>(s)];
    std::vector<std::vector<std::string>> rows{{"token", "id", "mask", "vector"}};
    rows.front().resize(static_cast<std::size_t>(3 + batch.vectors.size(2)));
    for (std::int64_t i = 0; i < batch.ids.size(1); ++i) {
      rows.push_back({tokens[static_cast<std::size_t>(i)], std::to_string(batch.ids(s, i)),
                      batch.mask(s, 0, 0, i) ? "1" : "0"});
      for (std::int64_t c = 0; c < batch.vectors.size(2); ++c) {
        rows.back().push_back(fixed(batch.vectors(s, i, c), 4));
      }
    }
    text += (s > 0 ? "\n" : "") + aligned(rows);
  }
  return text;
}

Json json_of(const Batch& batch) {
  Json json;
  for (const char* key : {"tokens", "ids", "mask", "vectors"}) json[key] = Json::array();
  for (std::int64_t s = 0; s < batch.ids.size(0); ++s) {
    Json ids = Json::array(), mask = Json::array(), vectors = Json::array();
    for (std::int64_t i = 0; i < batch.ids.size(1); ++i) {
      ids.push_back(batch.ids(s, i));
      mask.push_back(static_cast<bool>(batch.mask(s, 0, 0, i)));
      Json row = Json::array();
      for (std::int64_t c = 0; c < batch.vectors.size(2); ++c)
        row.push_back(batch.vectors(s, i, c));
      vectors.push_back(std::move(row));
    }
    json["tokens"].push_back(batch.tokens[static_cast<std::size_t>(s)]);
    json["ids"].push_back(std::move(ids));
    json["mask"].push_back(std::move(mask));
    json["vectors"].push_back(std::move(vectors));
  }
  return json;
}

void run(const Embed& embed) {
  const Batch batch = embedded(embed);
  const bool json = embed.output.format(kTextOrJson, "embed") == Format::json;
  write_result(embed.output, json ? Format::json : Format::text,
               json ? to_text(json_of(batch)) + "\n" : text_of(batch));
}

}  // namespace

void add_embed(CLI::App& program, Job& job) {
  CLI::App& command = *program.add_subcommand(
      "embed",
      "sentences as vectors: embeddings and positions\n"
      "The first layer of a transformer over a batch of sentences: each word's vector (random "
      "weights) times sqrt(width), plus its position, sines and then cosines. Shorter sentences "
      "are filled with <pad>, "
      "whose vector is zero and which the mask leaves out.");
  auto embed = std::make_shared<Embed>();
  command.add_option("TEXT", embed->sentences, "one or more sentences, split at white space")
      ->required();
  add_integer(command, "--width", embed->width, 1, 65536, "of a vector (default 4)");
  add_integer(command, "--seed", embed->seed, 0, 0xffffffff, "of the random weights (default 1)");
  embed->output.add_to(command, kTextOrJson, "save as .json");
  command.footer(
      "Examples:\n"
      "  sextant embed \"the black cat sat\" \"the cat\"\n"
      "  sextant embed \"the black cat sat\" \"the cat\" --width 512 --json");
  command.callback([embed, &job] {
    embed->output.format(kTextOrJson, "embed");
    job = [embed] { run(*embed); };
  });
}

}  // namespace sextant::app

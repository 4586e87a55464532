// `sextant embed`: the positional embedding layer over a batch of sentences.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands.h"
#include "lessons/embed_command.h"
#include "options/file_arguments.h"
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

// Throws Error for options that need a model, or exclude one.
void check(const Embed& embed) {
  const bool has_model = !embed.model.folders.empty();
  const auto format = embed.output.format(kEmbedFormats, "embed");
  if (!has_model && format && format != Format::text && format != Format::json) {
    throw Error("embed.output", "must be .json without --model");
  }
  if (has_model && (embed.width || embed.seed)) {
    throw Error(embed.width ? "embed.width" : "embed.seed",
                "must not be given with --model, which has its own weights");
  }
  for (const auto& [name, given] :
       {std::pair{"file", !embed.file.empty()}, {"image", !embed.images.empty()}}) {
    if (given && !has_model) {
      throw Error(std::string("embed.") + name, "must be given with --model only");
    }
  }
  if (!embed.images.empty()) {
    if (embed.sentences.empty() && embed.file.empty()) return;
    throw Error("embed.image", "must not be combined with TEXT and --file");
  }
  if (embed.sentences.empty() == embed.file.empty()) {
    throw CLI::RequiredError(embed.file.empty() ? "TEXT" : "TEXT or --file, not both");
  }
}

void run(const Embed& embed) {
  const Batch batch = embedded(embed);
  const bool json = embed.output.format(kEmbedFormats, "embed") == Format::json;
  write_result(embed.output, json ? Format::json : Format::text,
               json ? to_text(json_of(batch)) + "\n" : text_of(batch));
}

}  // namespace

void add_embed(CLI::App& program, Job& job) {
  CLI::App& command = *program.add_subcommand(
      "embed",
      "sentences as vectors: embeddings and positions, or those of a model\n"
      "Computes the first layer of a transformer for a batch of sentences: each word's vector "
      "(random "
      "weights) times sqrt(width), plus its position, sines and then cosines. Shorter sentences "
      "are padded with <pad>, whose vector is zero and which the mask hides.\n"
      "With --model it computes a vector per text from the model's last hidden states, as "
      "sentence-transformers does (the mean over tokens unless the folder says otherwise), and the "
      "cosine similarity of each pair of texts: as a table, as a picture, or the vectors as .npy. "
      "The vector of an image is the pooler's, or without one that of the class token.");
  auto embed = std::make_shared<Embed>();
  command.add_option("TEXT", embed->sentences, "one or more sentences, split at white space");
  input_file(command.add_option("--file", embed->file, "with --model: texts, one per line"),
             "FILE");
  input_file(command.add_option("--image", embed->images,
                                "for an image model (ViT, DeiT): images, [channels, height, "
                                "width] or [images, channels, height, width], normalised"),
             "FILE.npy");
  embed->model.add_folder(command);
  embed->model.add_dtype(command);
  add_threads(command, embed->model.threads);
  add_integer(command, "--width", embed->width, 1, 65536, "width of a vector (default 4)");
  add_integer(command, "--seed", embed->seed, 0, 0xffffffff,
              "seed of the random weights (default 1)");
  embed->output.add_to(command, kEmbedFormats,
                       "save as .json; with --model also .npy, or the similarities as a picture");
  command.footer(
      "Examples:\n"
      "  sextant embed \"the black cat sat\" \"the cat\"\n"
      "  sextant embed \"the black cat sat\" \"the cat\" --width 512 --json\n"
      "  sextant embed --model all-MiniLM-L6-v2 \"a cat\" \"a kitten\" \"the stock market\"\n"
      "  sextant embed --model all-MiniLM-L6-v2 --file sentences.txt -o vectors.npy\n"
      "  sextant embed --model vit-base-patch16-224 --image zebra.npy lion.npy");
  command.callback([embed, &job] {
    check(*embed);
    job = [embed] { embed->model.folders.empty() ? run(*embed) : embed_by_model(*embed); };
  });
}

}  // namespace sextant::app

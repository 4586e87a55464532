// `sextant evaluate --text`: how well a language model predicts a text.
#include <algorithm>
#include <cmath>

#include "models/evaluate_command.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/text/pairs.h"
#include "streams/console.h"
#include "streams/table_output.h"

namespace sextant::app {
namespace {

// The loss of all tokens but the first, each predicted once. Windows of `length` tokens lie
// `stride` <= length further than the one before; of the first all predictions count, of the others
// the last `stride`, which see length - stride + 1 .. length tokens.
LossSum windows_loss(LanguageModel<float>& model, std::span<const std::int64_t> tokens,
                     std::int64_t length, std::int64_t stride, int threads) {
  constexpr std::size_t kBatchTokens = 8192;
  Workspace memory;
  Pass pass{.memory = memory, .threads = threads};
  const auto count = static_cast<std::int64_t>(tokens.size());
  const Progress progress("");
  LossSum sum;
  TokenBatch batch{{}, {0}, {}};
  std::int64_t next = 1;  // the first token that was not predicted yet
  for (std::int64_t begin = 0; next < count; begin += stride) {
    const std::int64_t end = std::min(begin + length, count - 1);  // of what is read
    for (std::int64_t at = begin; at < end; ++at) {
      batch.tokens.push_back(tokens[static_cast<std::size_t>(at)]);
      batch.targets.push_back(at + 1 >= next ? tokens[static_cast<std::size_t>(at + 1)] : -1);
    }
    batch.segments.push_back(static_cast<std::int64_t>(batch.tokens.size()));
    next = end + 1;
    if (batch.tokens.size() < kBatchTokens && next < count) continue;
    progress.show("scored " + std::to_string(next) + " of " + std::to_string(count) + " tokens");
    memory.reset();
    sum.add(model.loss(batch, {}, nullptr, pass));
    batch = {{}, {0}, {}};
  }
  return sum;
}

std::int64_t characters_of(std::string_view text) {
  return std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; });
}

Json json_of(const LossSum& sum, double tokens_per_character) {
  const double nats = sum.loss / static_cast<double>(sum.tokens);
  const auto number = [](double value) { return std::isfinite(value) ? Json(value) : Json(); };
  return {{"perplexity", number(std::exp(nats))},
          {"bits_per_character", number(nats / std::log(2.0) * tokens_per_character)},
          {"correct_percent",
           100 * static_cast<double>(sum.correct) / static_cast<double>(sum.tokens)}};
}

std::string scores_as_text(const Json& json) {
  std::vector<std::vector<std::string>> rows(
      1, {"windows", "perplexity", "bits per character", "% most probable"});
  for (const Json& row : json["results"]) {
    const auto number = [&row](const char* key) {
      return row[key].is_null() ? "none" : fixed(row[key].get<double>(), 3);
    };
    const bool slides = row["stride"] != row["length"];
    rows.push_back({row["length"].dump() + " tokens" +
                        (slides ? ", sliding by " + row["stride"].dump() : " side by side"),
                    number("perplexity"), number("bits_per_character"), number("correct_percent")});
  }
  return json["tokens"].dump() + " tokens, " + json["unknown_tokens"].dump() + " unknown, " +
         json["characters"].dump() + " characters\n" + aligned(rows);
}

}  // namespace

void evaluate_text(const Evaluate& command) {
  const ModelFolder folder = command.model.open({ModelKind::causal});
  const std::string text = load_texts(command.text)[0];
  const auto tokens = folder.tokenizer.encode(text);
  if (tokens.size() < 2) {
    throw Error(command.text, "must have at least 2 tokens, got " + std::to_string(tokens.size()));
  }
  const std::int64_t length = command.length > 0 ? command.length : folder.config.length;
  if (command.stride > length) {
    throw Error("evaluate.stride", "must be 1 .. " + std::to_string(length) + ", the length, got " +
                                       std::to_string(command.stride));
  }
  LanguageModel<float> model = load_language_model(folder);
  const std::int64_t characters = characters_of(text);
  const double ratio = static_cast<double>(tokens.size()) / static_cast<double>(characters);

  Json json;
  json["model"] = folder.path;
  json["tokens"] = tokens.size();
  json["unknown_tokens"] = std::ranges::count(tokens, Tokenizer::unk());
  json["characters"] = characters;
  json["results"] = Json::array();
  for (const std::int64_t stride : {length, command.stride}) {
    if (stride == 0 || (stride == length && !json["results"].empty())) continue;
    Json row{{"length", length}, {"stride", stride}};
    row.update(json_of(windows_loss(model, tokens, length, stride, command.model.threads), ratio));
    json["results"].push_back(row);
  }
  print(command.json ? to_text(json) + "\n" : scores_as_text(json));
}

}  // namespace sextant::app

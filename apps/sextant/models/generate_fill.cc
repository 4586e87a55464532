// `sextant generate --fill`: what a masked model would put where the text has [MASK].
#include <algorithm>
#include <numeric>

#include "models/generate_command.h"
#include "options/options.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "streams/console.h"
#include "streams/table_output.h"

namespace sextant::app {
namespace {

constexpr std::string_view kHole = "[MASK]";
constexpr std::int64_t kShown = 10;  // tokens of a hole

// A text with holes as tokens, and where the holes are.
struct Holes {
  TokenBatch batch;
  std::vector<std::int64_t> places;
};

Holes holes_of(std::string_view text, const Tokenizer& tokenizer) {
  Holes holes;
  std::vector<std::int64_t>& tokens = holes.batch.tokens;
  while (true) {
    const std::size_t hole = text.find(kHole);
    const auto part = tokenizer.encode(text.substr(0, hole));
    tokens.insert(tokens.end(), part.begin(), part.end());
    if (hole == std::string_view::npos) break;
    holes.places.push_back(static_cast<std::int64_t>(tokens.size()));
    tokens.push_back(tokenizer.size());  // stands for what is hidden
    text.remove_prefix(hole + kHole.size());
  }
  if (holes.places.empty()) {
    throw Error("generate.fill", "must have " + std::string(kHole) + " where a token is hidden");
  }
  holes.batch.segments = {0, static_cast<std::int64_t>(tokens.size())};
  holes.batch.targets.assign(tokens.size(), -1);
  return holes;
}

struct Guess {
  std::string token;
  double probability;
};

// The most probable tokens of one hole. What stands for hidden ones is no answer.
std::vector<Guess> guesses_of(std::span<const float> logits, std::int64_t most,
                              const Tokenizer& tokenizer) {
  const auto probabilities =
      token_probabilities(logits.first(static_cast<std::size_t>(tokenizer.size())), {});
  std::vector<std::int64_t> order(probabilities.size());
  std::iota(order.begin(), order.end(), 0);
  const auto count = std::min(static_cast<std::size_t>(most), order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                    [&probabilities](std::int64_t a, std::int64_t b) {
                      const double first = probabilities[static_cast<std::size_t>(a)],
                                   second = probabilities[static_cast<std::size_t>(b)];
                      return first != second ? first > second : a < b;
                    });
  std::vector<Guess> guesses;
  for (std::size_t i = 0; i < count; ++i) {
    guesses.push_back(
        {tokenizer.piece(order[i]), probabilities[static_cast<std::size_t>(order[i])]});
  }
  return guesses;
}

// The text with the most probable token in every hole.
std::string filled(const Holes& holes, const std::vector<std::vector<Guess>>& guesses,
                   const Tokenizer& tokenizer) {
  std::vector<std::string> tokens;
  std::size_t hole = 0;
  for (const std::int64_t token : holes.batch.tokens) {
    tokens.push_back(token == tokenizer.size() ? guesses[hole++][0].token : tokenizer.piece(token));
  }
  return tokenizer.join(tokens);
}

}  // namespace

void fill_in(const Generate& command) {
  const ModelFolder folder = command.model.open({ModelKind::masked});
  const std::string text = read_text(command.fill, "generate.fill");
  Holes holes = holes_of(text, folder.tokenizer);
  if (holes.batch.tokens.size() > kMostPromptTokens) {
    throw Error("generate.fill", "must be at most " + std::to_string(kMostPromptTokens) +
                                     " tokens, got " + std::to_string(holes.batch.tokens.size()));
  }
  LanguageModel<float> model = load_language_model(folder);
  Workspace memory;
  Pass pass{.memory = memory, .threads = command.model.threads};
  const Tensor<float> logits = model.logits(holes.batch, holes.places, pass);
  const std::int64_t most =
      command.options.sampling.top_k > 0 ? command.options.sampling.top_k : kShown;
  std::vector<std::vector<Guess>> guesses;
  for (std::int64_t i = 0; i < logits.size(0); ++i) {
    const View<const float> row = logits.view().select(0, i);
    guesses.push_back(
        guesses_of({row.data(), static_cast<std::size_t>(row.count())}, most, folder.tokenizer));
  }
  if (command.json) {
    Json json{{"model", folder.path},
              {"text", text},
              {"filled", filled(holes, guesses, folder.tokenizer)},
              {"holes", Json::array()}};
    for (const auto& hole : guesses) {
      Json tokens = Json::array(), probabilities = Json::array();
      for (const Guess& guess : hole) {
        tokens.push_back(guess.token);
        probabilities.push_back(guess.probability);
      }
      json["holes"].push_back({{"tokens", tokens}, {"probabilities", probabilities}});
    }
    return print(to_text(json) + "\n");
  }
  std::string shown = filled(holes, guesses, folder.tokenizer) + "\n";
  for (std::size_t hole = 0; hole < guesses.size(); ++hole) {
    std::vector<std::vector<std::string>> rows;
    rows.push_back({std::string(kHole) + " " + std::to_string(hole + 1), "probability"});
    for (const Guess& guess : guesses[hole]) {
      rows.push_back({token_label(guess.token), fixed(guess.probability, 4)});
    }
    shown += "\n" + aligned(rows);
  }
  print(shown);
}

}  // namespace sextant::app

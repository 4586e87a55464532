// Prompts that are continued together give what each gives alone: compared with a loop that reads
// the whole text again for every token, without caches.
#include "sextant/models/generate_batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

#include "support/error_of.h"

namespace sextant::generate_batch_test {
namespace {

using Ids = std::vector<std::int64_t>;
using Place = std::pair<std::size_t, std::int64_t>;  // prompt and sample

TransformerConfig config_of(const SchemeSpec& scheme, std::int64_t length = 64) {
  TransformerConfig config;
  config.kind = ModelKind::causal;
  config.vocabulary = 13;
  config.width = 16;
  config.heads = 4;
  config.kv_heads = 2;
  config.layers = 2;
  config.length = length;
  config.schemes = {scheme};
  return config;
}

const std::vector<Ids> kPrompts = {
    {1, 7, 5}, {4}, {9, 8, 7, 6, 5, 4, 3, 10, 11}, {2, 2}, {5, 7, 9, 11}};

// The choices of one text: its tokens, and the logits that each was chosen by.
struct Text {
  GeneratedTokens made;
  std::vector<std::vector<float>> logits;
};

Text continue_slowly(const LanguageModel<float>& model, const Ids& prompt,
                     const GenerateOptions& options, std::uint32_t seed) {
  NumpyRandom random(seed);
  Ids text = prompt;
  Text result;
  const std::int64_t longest = model.positions.max_length();
  while (std::ssize(result.made.tokens) < options.max_tokens) {
    if (std::ssize(text) > longest && !options.slide) {
      result.made.ended_by = GenerationEnd::positions;
      break;
    }
    const auto read =
        std::span(text).last(static_cast<std::size_t>(std::min(std::ssize(text), longest)));
    Workspace memory;
    Pass pass{.memory = memory, .threads = 1};
    const Ids last = {std::ssize(read) - 1};
    const Tensor<float> logits = model.logits(TokenBatch::of(read), last, pass);
    auto& row = result.logits.emplace_back(logits.span().begin(), logits.span().end());
    std::vector<float> possible = row;
    forbid(options.never, possible);
    const auto probabilities = token_probabilities(possible, options.sampling, text);
    const std::int64_t token =
        token_at(probabilities, options.sampling.temperature == 0 ? 0 : random.uniform());
    if (std::ranges::count(options.ends, token) > 0) {
      result.made.ended_by = GenerationEnd::end;
      break;
    }
    text.push_back(token);
    result.made.tokens.push_back(token);
  }
  return result;
}

std::map<Place, Text> continue_together(const LanguageModel<float>& model,
                                        const std::vector<Ids>& prompts, GenerateOptions options,
                                        const BatchOptions& batch) {
  std::map<Place, Text> texts;
  options.watch = [&texts](const GeneratedToken& chosen) {
    texts[{chosen.prompt, chosen.sample}].logits.emplace_back(chosen.logits.begin(),
                                                              chosen.logits.end());
  };
  const auto made = generate_batch(model, prompts, options, batch);
  EXPECT_EQ(made.size(), prompts.size());
  for (std::size_t i = 0; i < made.size(); ++i) {
    EXPECT_EQ(std::ssize(made[i]), batch.samples);
    for (std::size_t j = 0; j < made[i].size(); ++j) {
      texts[{i, static_cast<std::int64_t>(j)}].made = made[i][j];
    }
  }
  return texts;
}

// Returns how many texts ended in each way.
std::map<GenerationEnd, int> expect_alone(const LanguageModel<float>& model,
                                          const std::vector<Ids>& prompts,
                                          const GenerateOptions& options,
                                          const BatchOptions& batch) {
  std::map<GenerationEnd, int> ends;
  for (const auto& [place, text] : continue_together(model, prompts, options, batch)) {
    SCOPED_TRACE(std::to_string(place.first) + ", sample " + std::to_string(place.second));
    const auto seed = static_cast<std::uint32_t>(options.seed + place.second);
    const Text alone = continue_slowly(model, prompts[place.first], options, seed);
    EXPECT_EQ(text.made.tokens, alone.made.tokens);
    EXPECT_EQ(text.made.ended_by, alone.made.ended_by);
    EXPECT_EQ(text.logits, alone.logits);
    GenerateOptions one = options;
    one.seed = seed;
    const GeneratedTokens by_itself = generate(model, prompts[place.first], one);
    EXPECT_EQ(by_itself.tokens, alone.made.tokens);
    EXPECT_EQ(by_itself.ended_by, alone.made.ended_by);
    ++ends[alone.made.ended_by];
  }
  return ends;
}

TEST(GenerateBatch, GivesEachPromptTheTokensThatItHasAlone) {
  for (const SchemeSpec& scheme :
       {SchemeSpec{"none"}, SchemeSpec{"rotary"}, SchemeSpec{"learned"}, SchemeSpec{"alibi"},
        SchemeSpec{"sinusoidal"}, SchemeSpec{"t5"},
        SchemeSpec{"rotary_dynamic_ntk", {{"max_length", "8"}}},
        SchemeSpec{"rotary_longrope",
                   {{"original_length", "8"}, {"long_factor", "1,2"}, {"short_factor", "1,1"}}}}) {
    SCOPED_TRACE(scheme.scheme);
    const LanguageModel<float> model(config_of(scheme));
    const GenerateOptions options{.max_tokens = 10, .seed = 5};
    for (const std::int64_t batch_size : {1, 4, 32}) {
      SCOPED_TRACE(batch_size);
      expect_alone(model, kPrompts, options, {.samples = 2, .batch_size = batch_size});
    }
  }
}

TEST(GenerateBatch, GivesEachLayerItsPositions) {
  TransformerConfig config = config_of({"rotary"});
  config.layer_schemes = {{{1}, {"alibi"}}};
  const LanguageModel<float> model(config);
  expect_alone(model, kPrompts, {.max_tokens = 6}, {.samples = 2});
}

// More rows than the products of few rows take, and more threads than texts.
TEST(GenerateBatch, DoesNotDependOnTheNumberOfTextsAndThreads) {
  const LanguageModel<float> model(config_of({"rotary"}));
  GenerateOptions options{.max_tokens = 6, .seed = 1};
  for (const int threads : {1, 3, 8}) {
    options.threads = threads;
    expect_alone(model, kPrompts, options, {.samples = 5});
    expect_alone(model, {kPrompts[2]}, options, {.samples = 2});
  }
}

TEST(GenerateBatch, SamplesAsTheOptionsSay) {
  const LanguageModel<float> model(config_of({"rotary"}));
  const GenerateOptions options{
      .max_tokens = 12,
      .sampling = {.repetition_penalty = 1.5, .temperature = 2, .top_k = 6, .top_p = 0.9},
      .seed = 4294967295,
      .never = {0, 3}};
  expect_alone(model, kPrompts, options, {.samples = 3});
  const std::vector<Ids> prompts = {{1, 7, 5}};
  const auto made = generate_batch(model, prompts, options, {.samples = 3})[0];
  EXPECT_NE(made[0].tokens, made[1].tokens);
  EXPECT_NE(made[1].tokens, made[2].tokens);
  EXPECT_EQ(sample_seed(4294967295, 0), 4294967295);
  EXPECT_EQ(sample_seed(4294967295, 2), 1U);
  EXPECT_EQ(sample_seed(7, 2), 9U);
}

TEST(GenerateBatch, EndsEachTextByItself) {
  const LanguageModel<float> model(config_of({"rotary"}));
  GenerateOptions options{.max_tokens = 12, .seed = 2};
  const auto whole = generate_batch(model, kPrompts, options);
  options.ends = {whole[1][0].tokens[2]};
  const auto ends = expect_alone(model, kPrompts, options, {.samples = 3, .batch_size = 4});
  EXPECT_GT(ends.at(GenerationEnd::end), 0);
  EXPECT_GT(ends.at(GenerationEnd::tokens), 0);

  options.ends = {};
  std::map<Place, Ids> given;
  const auto stopped =
      generate_batch(model, kPrompts, options, {.samples = 2},
                     [&](std::size_t prompt, std::int64_t sample, std::int64_t token) {
                       Ids& tokens = given[{prompt, sample}];
                       tokens.push_back(token);
                       return !(prompt == 3 && sample == 1 && tokens.size() == 4);
                     });
  for (const auto& [place, tokens] : given) {
    const GeneratedTokens& made = stopped[place.first][static_cast<std::size_t>(place.second)];
    const bool stops = place == Place(3, 1);
    EXPECT_EQ(made.tokens, tokens);
    EXPECT_EQ(tokens.size(), stops ? 4U : 12U);
    EXPECT_EQ(made.ended_by, stops ? GenerationEnd::stop : GenerationEnd::tokens);
  }
}

TEST(GenerateBatch, EndsOrSlidesWhereTheTableOfPositionsEnds) {
  const LanguageModel<float> model(config_of({"learned"}, 10));
  GenerateOptions options{.max_tokens = 8};
  const auto ends = expect_alone(model, kPrompts, options, {.samples = 2, .batch_size = 3});
  EXPECT_EQ(ends.at(GenerationEnd::positions), 4);  // of the prompts of 9 and of 4 tokens
  EXPECT_EQ(ends.at(GenerationEnd::tokens), 6);
  options.slide = true;
  std::vector<Ids> prompts = kPrompts;
  prompts.push_back({5, 4, 5, 6, 7, 8, 9, 10, 11, 12, 1, 7, 5, 9});  // longer than the table
  const auto slid = expect_alone(model, prompts, options, {.samples = 2, .batch_size = 5});
  EXPECT_EQ(slid.at(GenerationEnd::tokens), 12);
}

// Prompts, and then windows that slide, of 4500 tokens together.
TEST(GenerateBatch, ReadsTextsOfManyTokensInSeveralPasses) {
  const LanguageModel<float> model(config_of({"learned"}, 1500));
  std::vector<Ids> prompts(3);
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    for (std::size_t t = 0; t < 1500 + 200 * i; ++t) {
      prompts[i].push_back(static_cast<std::int64_t>((t * t + i) % 13));
    }
  }
  expect_alone(model, prompts, {.max_tokens = 2, .slide = true}, {});
}

TEST(GenerateBatch, StoresKeysAsOneTextDoes) {
  const LanguageModel<float> model(config_of({"rotary"}));
  GenerateOptions options{.max_tokens = 12, .sampling = {.temperature = 3}};
  for (const CacheType type : {CacheType::bfloat16, CacheType::float16, CacheType::int8}) {
    options.cache_type = type;
    for (const auto& [place, text] : continue_together(model, kPrompts, options, {.samples = 2})) {
      GenerateOptions one = options;
      one.seed = sample_seed(options.seed, place.second);
      std::vector<std::vector<float>> logits;
      one.watch = [&logits](const GeneratedToken& chosen) {
        EXPECT_EQ(chosen.prompt, 0U);
        EXPECT_EQ(chosen.sample, 0);
        logits.emplace_back(chosen.logits.begin(), chosen.logits.end());
      };
      EXPECT_EQ(text.made.tokens, generate(model, kPrompts[place.first], one).tokens);
      EXPECT_EQ(text.logits, logits);
    }
  }
}

TEST(GenerateBatch, NamesThePromptThatItRefuses) {
  const LanguageModel<float> model(config_of({"learned"}, 4));
  const GenerateOptions options{.max_tokens = 2};
  const auto refused = [&](const std::vector<Ids>& prompts, const BatchOptions& batch = {}) {
    return error_of([&] { generate_batch(model, prompts, options, batch); });
  };
  EXPECT_EQ(refused({}), "[generate.prompts] must have at least one prompt, got none");
  EXPECT_EQ(refused({{1}, {}}), "[generate.prompts[1]] must have at least one token");
  EXPECT_EQ(refused({{1}, {2, 13}}), "[generate.prompts[1]] must be 0 .. 12, got 13");
  EXPECT_EQ(refused({{1}, {2}, {1, 2, 3, 4, 5}}),
            "[generate.prompts[2]] must be at most 4 tokens, where the positions of the model "
            "(learned) end, got 5; slide reads its last 4");
  EXPECT_EQ(refused({{1}, {}}, {.names = {"a:1", "a:2"}}), "[a:2] must have at least one token");
  EXPECT_EQ(refused({{1}, {2}}, {.names = {"a"}}),
            "[generate.names] must be one for each of 2 prompts, got 1");
  EXPECT_EQ(refused({{1}}, {.samples = 0}), "[generate.samples] must be 1 .. 2^20, got 0");
  EXPECT_EQ(refused({{1}}, {.batch_size = 0}), "[generate.batch_size] must be 1 .. 2^20, got 0");
}

TEST(GenerateBatch, GivesTextsAsTheStreamOfOneDoes) {
  const Tokenizer tokenizer = Tokenizer::train(std::vector<std::string>{"a b c d e f g h"});
  TransformerConfig config = config_of({"rotary"});
  config.vocabulary = 0;
  const TextModel model(config, tokenizer);
  const std::vector<std::string> prompts = {"a b", "c ", "h g f e d"};
  const GenerateOptions options{.max_tokens = 15, .sampling = {.temperature = 2}, .seed = 3};
  const auto made = generate_batch(model, prompts, options, {.samples = 3});
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      GenerateOptions one = options;
      one.seed = static_cast<std::uint32_t>(3 + j);
      EXPECT_EQ(made[i][j].text, generate(model, prompts[i], one));
    }
  }
  const std::string& first = made[0][0].text;
  const std::string stop = first.substr(8, 3);
  const auto stopped = generate_batch(model, prompts, options, {.samples = 3}, stop);
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      const std::size_t found = made[i][j].text.find(stop);
      EXPECT_EQ(stopped[i][j].text, made[i][j].text.substr(0, found));
      EXPECT_EQ(stopped[i][j].ended_by == GenerationEnd::stop, found != std::string::npos);
    }
  }
  EXPECT_EQ(error_of([&] { generate_batch(model, prompts, options, {}, "", 4); }),
            "[generate.prompts[2]] must be at most 4 tokens, got 5");
  const std::vector<std::string> wrong = {"a", "\xff"};
  EXPECT_TRUE(error_of([&] {
                generate_batch(model, wrong, options);
              }).starts_with("[generate.prompts[1]] "));
}

}  // namespace
}  // namespace sextant::generate_batch_test

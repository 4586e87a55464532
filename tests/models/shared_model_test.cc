// One const model in many threads: each gets what it gets alone.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "sextant/models/generate.h"
#include "sextant/models/language_model.h"
#include "sextant/models/translate.h"

namespace sextant {
namespace {

using Ids = std::vector<std::int64_t>;

constexpr int kThreads = 4;

// Without weights, with them, and with tables of every length.
const char* const kSchemes[] = {"rotary", "sinusoidal", "t5", "learned", "rotary_dynamic_ntk"};

TransformerConfig shared_config(const std::string& scheme, ModelKind kind) {
  TransformerConfig config;
  config.kind = kind;
  config.vocabulary = 13;
  config.width = 16;
  config.heads = 2;
  config.layers = 2;
  config.length = 48;
  config.schemes = {scheme};
  if (scheme == "rotary_dynamic_ntk") config.schemes[0].parameters = {{"max_length", "8"}};
  return config;
}

Ids thread_text(int thread) {
  Ids tokens;
  for (std::int64_t i = 0; i < 3 + 5 * thread; ++i) tokens.push_back((thread + i * i) % 13);
  return tokens;
}

// Calls each in a thread of its own, twice.
void in_threads(const std::function<void(int thread)>& use) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&use, thread] {
      use(thread);
      use(thread);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(SharedModel, GeneratesTheSameInManyThreads) {
  for (const char* scheme : kSchemes) {
    SCOPED_TRACE(scheme);
    const LanguageModel<float> model(shared_config(scheme, ModelKind::causal));
    const auto made = [&model](int thread) {
      return generate(model, thread_text(thread), {.max_tokens = 12, .threads = 1}).tokens;
    };
    std::vector<Ids> wanted;
    for (int thread = 0; thread < kThreads; ++thread) wanted.push_back(made(thread));
    in_threads(
        [&](int thread) { EXPECT_EQ(made(thread), wanted[static_cast<std::size_t>(thread)]); });
  }
}

TEST(SharedModel, GivesTheSameLossInManyThreads) {
  for (const char* scheme : kSchemes) {
    SCOPED_TRACE(scheme);
    const LanguageModel<float> model(shared_config(scheme, ModelKind::causal));
    const auto loss = [&model](int thread) {
      TokenBatch batch;
      batch.tokens = batch.targets = thread_text(thread);
      batch.segments = {0, 2, static_cast<std::int64_t>(batch.tokens.size())};
      Workspace memory;
      Pass pass{.memory = memory, .threads = 1};
      return model.loss(batch, {}, nullptr, pass).loss;
    };
    std::vector<double> wanted;
    for (int thread = 0; thread < kThreads; ++thread) wanted.push_back(loss(thread));
    in_threads(
        [&](int thread) { EXPECT_EQ(loss(thread), wanted[static_cast<std::size_t>(thread)]); });
  }
}

TEST(SharedModel, TranslatesTheSameInManyThreads) {
  for (const char* scheme : kSchemes) {
    SCOPED_TRACE(scheme);
    const Translator<float> model(shared_config(scheme, ModelKind::translator));
    const auto made = [&model](int thread) {
      return translate(model, std::vector<Ids>{thread_text(thread)}, {.threads = 1})[0][0].tokens;
    };
    std::vector<Ids> wanted;
    for (int thread = 0; thread < kThreads; ++thread) wanted.push_back(made(thread));
    in_threads(
        [&](int thread) { EXPECT_EQ(made(thread), wanted[static_cast<std::size_t>(thread)]); });
  }
}

TEST(SharedModel, ListsItsParametersForReading) {
  LanguageModel<float> model(shared_config("t5", ModelKind::causal));
  const LanguageModel<float>& shared = model;
  const Parameters<float> own = model.parameters();
  const Parameters<const float> read = shared.parameters();
  ASSERT_EQ(read.size(), own.size());
  EXPECT_EQ(count_of(read), count_of(own));
  for (std::size_t i = 0; i < own.size(); ++i) {
    EXPECT_EQ(read[i].name, own[i].name);
    EXPECT_EQ(read[i].tensor, own[i].tensor);
  }
}

}  // namespace
}  // namespace sextant

// Several prompts: their checks and their texts.
#include "sextant/models/generate_batch.h"

#include <string>
#include <utility>

#include "models/batch_generator.h"
#include "models/generation_fields.h"
#include "sextant/core/error.h"
#include "sextant/models/text_stream.h"
#include "sextant/text/segment.h"

namespace sextant {
namespace {

void check_batch(const BatchOptions& batch, std::size_t prompts) {
  check_fields("generate", batch);
  if (prompts == 0) throw Error("generate.prompts", "must have at least one prompt, got none");
  if (batch.names.empty() || batch.names.size() == prompts) return;
  throw Error("generate.names", "must be one for each of " + std::to_string(prompts) +
                                    " prompts, got " + std::to_string(batch.names.size()));
}

std::string name_of_prompt(const BatchOptions& batch, std::size_t i) {
  return batch.names.empty() ? "generate.prompts[" + std::to_string(i) + "]" : batch.names[i];
}

}  // namespace

std::uint32_t sample_seed(std::uint32_t seed, std::int64_t sample) noexcept {
  return seed + static_cast<std::uint32_t>(sample);
}

std::vector<std::vector<GeneratedTokens>> generate_batch(
    const LanguageModel<float>& model, std::span<const std::vector<std::int64_t>> prompts,
    const GenerateOptions& options, const BatchOptions& batch,
    const std::function<bool(std::size_t, std::int64_t, std::int64_t)>& each) {
  models::check_generation(model, options);
  check_batch(batch, prompts.size());
  std::vector<std::span<const std::int64_t>> all(prompts.begin(), prompts.end());
  for (std::size_t i = 0; i < all.size(); ++i) {
    models::check_prompt(model, all[i], options.slide, name_of_prompt(batch, i));
  }
  return models::continue_prompts(model, all, options, batch, each);
}

std::vector<std::vector<GeneratedText>> generate_batch(
    const TextModel& model, std::span<const std::string> prompts, const GenerateOptions& options,
    const BatchOptions& batch, std::string_view stop, std::size_t max_prompt_tokens) {
  check_batch(batch, prompts.size());
  std::vector<std::vector<std::int64_t>> ids;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    const std::string where = name_of_prompt(batch, i);
    check_utf8(prompts[i], where);
    ids.push_back(model.tokenizer.model_input(prompts[i]).ids);
    if (ids.back().size() <= max_prompt_tokens) continue;
    throw Error(where, "must be at most " + std::to_string(max_prompt_tokens) + " tokens, got " +
                           std::to_string(ids.back().size()));
  }
  const auto samples = static_cast<std::size_t>(batch.samples);
  std::vector<std::vector<TextStream>> streams(prompts.size());
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    for (std::size_t sample = 0; sample < samples; ++sample) {
      streams[i].emplace_back(model.tokenizer, prompts[i], ids[i], std::string(stop),
                              [](std::string_view) {});
    }
  }
  auto made =
      generate_batch(model, ids, for_text(model, options), batch,
                     [&streams](std::size_t prompt, std::int64_t sample, std::int64_t token) {
                       return streams[prompt][static_cast<std::size_t>(sample)].add(token);
                     });
  std::vector<std::vector<GeneratedText>> texts(prompts.size());
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    for (std::size_t sample = 0; sample < samples; ++sample) {
      streams[i][sample].finish();
      texts[i].push_back({std::move(made[i][sample]), streams[i][sample].text()});
    }
  }
  return texts;
}

}  // namespace sextant

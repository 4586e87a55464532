// Generation of one text: the batch with one prompt and one sample.
#include "sextant/models/generate.h"

#include <string>
#include <utility>

#include "core/options/enum_names.h"
#include "models/batch_generator.h"
#include "sextant/models/text_stream.h"

namespace sextant {

std::string_view name_of(GenerationEnd end) noexcept {
  return enum_name(end, {"tokens", "end", "stop", "positions"});
}

GeneratedTokens generate(const LanguageModel<float>& model, std::span<const std::int64_t> prompt,
                         const GenerateOptions& options,
                         const std::function<bool(std::int64_t)>& each) {
  models::check_generation(model, options);
  models::check_prompt(model, prompt, options.slide, "generate.prompt");
  models::EachToken with_token;
  if (each) {
    with_token = [&each](std::size_t, std::int64_t, std::int64_t token) { return each(token); };
  }
  auto made = models::continue_prompts(model, {&prompt, 1}, options, {}, with_token);
  return std::move(made[0][0]);
}

GenerateOptions for_text(const TextModel& model, GenerateOptions options) {
  if (options.ends.empty()) options.ends = model.tokenizer.special().ends;
  if (options.never.empty()) options.never = model.tokenizer.unwritten(model.config.vocabulary);
  return options;
}

std::string generate(const TextModel& model, std::string_view prompt,
                     const GenerateOptions& options,
                     const std::function<void(std::string_view)>& show) {
  const auto ids = model.tokenizer.model_input(prompt).ids;
  TextStream stream(model.tokenizer, prompt, ids, "", [&show](std::string_view part) {
    if (show) show(part);
  });
  generate(model, ids, for_text(model, options),
           [&stream](std::int64_t token) { return stream.add(token); });
  stream.finish();
  return stream.text();
}

}  // namespace sextant

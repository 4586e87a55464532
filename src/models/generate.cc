// Generation: the stack reads the prompt at once, then its own tokens.
#include "sextant/models/generate.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "models/check_kind.h"
#include "models/embed_tokens.h"
#include "models/generation_fields.h"
#include "sextant/core/error.h"
#include "sextant/models/text_stream.h"

namespace sextant {
namespace {

void check_prompt(const LanguageModel<float>& model, std::span<const std::int64_t> prompt,
                  bool slide) {
  if (prompt.empty()) throw Error("generate.prompt", "must have at least one token");
  for (const std::int64_t token : prompt) {
    if (token < 0 || token >= model.config.vocabulary) {
      throw Error("generate.prompt", "must be 0 .. " + std::to_string(model.config.vocabulary - 1) +
                                         ", got " + std::to_string(token));
    }
  }
  const std::int64_t longest = model.positions.max_length();
  if (slide || std::ssize(prompt) <= longest) return;
  const std::string most = std::to_string(longest);
  throw Error("generate.prompt",
              "must be at most " + most + " tokens, where the positions of the model (" +
                  names_of(model.config.schemes) + ") end, got " + std::to_string(prompt.size()) +
                  "; slide reads its last " + most);
}

}  // namespace

std::string_view name_of(GenerationEnd end) noexcept {
  return enum_name(end, {"tokens", "end", "stop", "positions"});
}

GeneratedTokens generate(const LanguageModel<float>& model, std::span<const std::int64_t> prompt,
                         const GenerateOptions& options,
                         const std::function<bool(std::int64_t)>& each) {
  check_kind("generate.model", model.config.kind, ModelKind::causal);
  check_fields("generate", options);
  check_sampling(options.sampling);
  check_prompt(model, prompt, options.slide);
  Workspace memory;
  Pass pass{.memory = memory, .threads = options.threads};
  const auto length = std::ssize(prompt);
  const std::int64_t window =
      std::min(length + options.max_tokens - 1, model.positions.max_length());
  StackDecoder decoder(model.stack, model.positions, 1, window, options.cache_type);
  NumpyRandom random(options.seed);
  std::vector<std::int64_t> tokens(prompt.begin(), prompt.end());
  GeneratedTokens made;
  // Each token once, which is all that a repetition penalty looks at.
  std::vector<std::int64_t> different;
  std::vector<bool> seen(static_cast<std::size_t>(model.config.vocabulary));
  const auto add_different = [&](std::int64_t token) {
    if (seen[static_cast<std::size_t>(token)]) return;
    seen[static_cast<std::size_t>(token)] = true;
    different.push_back(token);
  };
  std::for_each(tokens.begin(), tokens.end(), add_different);
  std::vector<float> logits(static_cast<std::size_t>(model.config.vocabulary));
  while (std::ssize(made.tokens) < options.max_tokens) {
    if (std::ssize(tokens) > window) {
      if (!options.slide) {
        made.ended_by = GenerationEnd::positions;
        break;
      }
      decoder.clear();
    }
    memory.reset();
    const auto unread = std::span(tokens).last(static_cast<std::size_t>(
        std::min<std::int64_t>(std::ssize(tokens), window) - decoder.length()));
    const View<const float> x =
        models::embed<float>(model.embedding, unread, model.config.embedding_factor(), pass);
    const View<const float> h = decoder.read(x, pass);
    model.make_logits(h.narrow(0, h.size(0) - 1, 1),
                      View<float>(logits.data(), {1, model.config.vocabulary}), pass);
    std::vector<float> possible = logits;
    forbid(options.never, possible);
    const std::vector<double> probabilities =
        token_probabilities(possible, options.sampling, different);
    const std::int64_t token =
        token_at(probabilities, options.sampling.temperature == 0 ? 0 : random.uniform());
    if (options.watch) options.watch({token, logits, probabilities});
    if (std::ranges::count(options.ends, token) > 0) {
      made.ended_by = GenerationEnd::end;
      break;
    }
    tokens.push_back(token);
    made.tokens.push_back(token);
    add_different(token);
    if (each && !each(token)) {
      made.ended_by = GenerationEnd::stop;
      break;
    }
  }
  return made;
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

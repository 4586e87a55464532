// The texts that a language model generates.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>

#include "calls.h"
#include "interpreter_lock.h"
#include "models/models.h"
#include "models/text_model.h"
#include "sextant/core/error.h"
#include "sextant/models/generate_batch.h"
#include "sextant/models/text_stream.h"

namespace sextant::python {
namespace {

// Returns the text of one prompt, and a note on its end or nothing.
std::pair<std::string, std::string> generate_text(const TextModel& model, const std::string& prompt,
                                                  const GenerateOptions& options,
                                                  const std::string& stop, nb::handle on_text) {
  const Unlocked released;
  const auto ids = model.tokenizer.model_input(prompt).ids;
  TextStream stream(model.tokenizer, prompt, ids, stop, [&](std::string_view part) {
    const Locked held;
    if (!on_text.is_none()) on_text(nb::str(part.data(), part.size()));
  });
  const GeneratedTokens made =
      generate(model, ids, for_text(model, options), [&stream](std::int64_t token) {
        check_signals();
        return stream.add(token);
      });
  stream.finish();
  const bool is_cut = made.ended_by == GenerationEnd::positions;
  return {stream.text(), is_cut ? end_of_positions(model, made.tokens.size(), "slide=True") : ""};
}

// Returns the texts, [prompts][samples], and a note on their ends or nothing.
std::pair<std::vector<std::vector<std::string>>, std::string> generate_texts(
    const TextModel& model, const std::vector<std::string>& prompts, GenerateOptions options,
    const BatchOptions& batch, const std::string& stop) {
  const Unlocked released;
  options.watch = [](const GeneratedToken&) { check_signals(); };
  const auto made = generate_batch(model, prompts, options, batch, stop);
  std::vector<std::vector<std::string>> texts;
  std::size_t cut = 0;
  for (const auto& samples : made) {
    auto& list = texts.emplace_back();
    for (const GeneratedText& each : samples) {
      list.push_back(each.text);
      cut += each.ended_by == GenerationEnd::positions ? 1 : 0;
    }
  }
  if (cut == 0) return {texts, ""};
  return {texts, end_of_positions(model, made[0][0].tokens.size(), "slide=True", cut,
                                  made.size() * made[0].size())};
}

}  // namespace

nb::tuple generate_any(const PyTextModel& self, nb::handle given_prompt, const nb::dict& given,
                       const std::string& stop, nb::handle on_text) {
  GenerateOptions options = default_generation();
  BatchOptions batch;
  visit_generation(options, batch, taking({given, "generate"}));
  const Argument prompt{given_prompt, "generate", "prompt"};
  const bool is_one = nb::isinstance<nb::str>(given_prompt);
  const bool is_list =
      nb::isinstance<nb::list>(given_prompt) || nb::isinstance<nb::tuple>(given_prompt);
  if (!is_one && !is_list) throw_type_error(prompt, "a str or a list of str");
  if (is_one && batch.samples == 1) {
    const auto [text, note] =
        generate_text(self.text("generate"), prompt.text(), options, stop, on_text);
    return nb::make_tuple(text, note);
  }
  if (!on_text.is_none()) {
    throw Error("generate.on_text",
                "must be None unless there is one prompt, a str, and one sample");
  }
  std::vector<std::string> prompts;
  const auto add = [&](nb::handle one, const std::string& name) {
    prompts.push_back(Argument{one, "generate", name}.text());
    batch.names.push_back("generate." + name);
  };
  if (is_one) {
    add(given_prompt, "prompt");
  } else {
    for (const nb::handle one : nb::borrow<nb::object>(given_prompt)) {
      add(one, "prompt[" + std::to_string(prompts.size()) + "]");
    }
  }
  if (prompts.empty()) throw Error("generate.prompt", "must have at least one prompt, got none");
  const auto [texts, note] = generate_texts(self.text("generate"), prompts, options, batch, stop);
  if (is_one) return nb::make_tuple(texts[0], note);
  if (batch.samples > 1) return nb::make_tuple(texts, note);
  std::vector<std::string> firsts;
  for (const auto& samples : texts) firsts.push_back(samples[0]);
  return nb::make_tuple(firsts, note);
}

}  // namespace sextant::python

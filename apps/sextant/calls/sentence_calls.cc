// The calls of `sextant attend` and `compare`.
#include <algorithm>
#include <string>

#include "calls/calls.h"
#include "core/text/strings.h"
#include "lessons/sentence_fields.h"

namespace sextant::app {
namespace {

std::string cpp_options(const SentenceAttentionOptions& options) {
  std::string text = "sextant::SentenceAttentionOptions options;\n";
  if (names_of(options.schemes) != "none") {
    text += "options.schemes = " + cpp_schemes(options.schemes) + ";\n";
  }
  for (const Option& option : changed_fields(options)) {
    text += "options." + std::string(option.name) + " = " + cpp_value(option, option.default_text) +
            ";\n";
  }
  return text;
}

// "" where Python's function has an option of the name, else the option.
std::string missing_in_python(const std::vector<Option>& changed) {
  constexpr std::string_view kKnown[] = {"heads", "width", "seed", "causal"};
  for (const Option& option : changed) {
    if (std::ranges::find(kKnown, option.name) != std::end(kKnown)) continue;
    return option.name == "hidden" ? "--hide" : dashed(option.name);
  }
  return "";
}

std::string python_options(const SentenceAttentionOptions& options) {
  Arguments arguments;
  arguments.add("scheme", python_schemes(options.schemes));
  for (const Option& option : changed_fields(options)) {
    arguments.add(option.name, python_value(option, option.default_text));
  }
  return arguments.text();
}

// `attend --model`: all maps of the model.
PrintedCall call_of_model(const Attend& attend) {
  const std::string& folder = attend.model.folders.front();
  Arguments arguments;
  arguments.add(string_literal(attend.text.read("attend.text", kLongestShownText)));
  if (attend.has_second()) {
    arguments.add(string_literal(read_text(attend.second, "attend.second", kLongestShownText)));
  }
  const SchemeSpecs& other = attend.model.other_schemes;
  const auto& layers = attend.model.replaced_layers;
  const auto number = [](std::int64_t layer) { return std::to_string(layer); };
  const std::string model =
      folder == "shipped" ? "sextant.shipped("
                          : "sextant.load(" + string_literal(folder) + (other.empty() ? "" : ", ");
  return {.python = "model = " + model +
                    (other.empty() ? "" : "replace_scheme=" + python_schemes(other)) +
                    (layers.empty() ? "" : ", replace_in=[" + joined(layers, ", ", number) + "]") +
                    ")\nmaps = model.attention_maps(" + arguments.text() + ")",
          .cpp = {},
          .missing = "--model"};
}

}  // namespace

PrintedCall call_of(const Attend& attend, const std::vector<std::string>& first,
                    const std::vector<std::string>& second) {
  if (!attend.vectors.empty()) return {.python = {}, .cpp = {}, .missing = "--vectors"};
  if (!attend.choice.weights_file.empty()) {
    return {.python = {}, .cpp = {}, .missing = "--scheme-weights"};
  }
  if (!attend.model.folders.empty()) return call_of_model(attend);
  std::string missing = missing_in_python(changed_fields(attend.options));
  const bool shows_step = !attend.step.empty() && attend.step != "weights";
  if (shows_step) missing = "--step";
  PrintedCall call{.python = {}, .cpp = cpp_options(attend.options), .missing = missing};
  if (missing.empty()) {
    call.python = "attention = sextant.lessons.attend(" + word_list(first, "[]") + ",\n" +
                  (second.empty() ? "" : "    " + word_list(second, "[]") + ",\n") + "    " +
                  python_options(attend.options) + ")\nattention.weights";
  }
  const std::string texts = word_list(first, "{}") + ", " + word_list(second, "{}") + ", options);";
  if (!shows_step) {
    call.cpp +=
        "const sextant::SentenceAttention attention = sextant::attend_sentences(\n    " + texts;
    return call;
  }
  call.cpp += "const sextant::AttentionSteps steps = sextant::attention_steps(\n    " + texts;
  if (attend.step != "all") {
    call.cpp += "\nconst sextant::Tensor<double>& " + attend.step +
                " = steps[sextant::AttentionStep::" + attend.step + "];";
  }
  return call;
}

PrintedCall call_of(const SentenceAttentionOptions& options, const std::vector<std::string>& first,
                    const std::vector<std::string>& second) {
  SentenceAttentionOptions given = options;
  given.causal = false;  // it always is
  return {.python = "verdict = sextant.lessons.compare(" + word_list(first, "[]") + ",\n    " +
                    word_list(second, "[]") + ",\n    " + python_options(given) +
                    ")\nprint(verdict)",
          .cpp = cpp_options(given) +
                 "const sextant::OrderVerdict verdict = sextant::compare_order(\n    " +
                 word_list(first, "{}") + ",\n    " + word_list(second, "{}") + ", options);"};
}

}  // namespace sextant::app

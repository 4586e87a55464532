// The call of `sextant train`, from the lists of its options.
#include <algorithm>
#include <string>

#include "calls/printed_call.h"
#include "core/text/strings.h"
#include "training/plan_parts.h"
#include "training/train_options.h"

namespace sextant::app {
namespace {

// The options of a part that were given, for f(member, name in Python, option, its text).
template <class Options, class F>
void each_given(const CLI::App& command, const PlanPart<Options>& part, const F& f) {
  each_option(defaults_of(part), part.group, part.words,
              [&](const auto& field, const CommandOption& option) {
                const CLI::Option* given = command.get_option(option.name);
                if (given->count() == 0) return;
                const std::string member(field.name);
                const bool is_flag = std::holds_alternative<FlagRange>(option.of.range);
                std::string name = is_flag ? member : option.name.substr(2);
                std::ranges::replace(name, '-', '_');
                f(std::string(part.member) + "." + member, name, option.of,
                  !is_flag         ? given->results().back()
                  : option.negates ? "no"
                                   : "yes");
              });
}

}  // namespace

PrintedCall TrainOptions::call(const CLI::App& command) const {
  Arguments python;
  std::string cpp;
  const auto files = [](const std::vector<std::string>& paths) {
    return paths.size() == 1 ? string_literal(paths[0]) : word_list(paths, "[]");
  };
  const auto add_file = [&](const char* name, const char* member, const std::string& path) {
    if (path.empty()) return;
    python.add(name, string_literal(path));
    cpp += std::string("plan.settings.") + member + ".push_back(sextant::data_file(" +
           string_literal(path) + "));\n";
  };
  if (resume) python.add(string_literal(folder));
  if (!texts_.empty()) python.add(files(texts_));
  for (const std::string& path : texts_) {
    cpp += "plan.settings.files.push_back(sextant::data_file(" + string_literal(path) + "));\n";
  }
  add_file("pairs", "files", pairs_);
  add_file("valid", "valid", valid_);
  add_file("from_model", "from", from_);
  add_file("tokenizer_from", "tokenizer_from", tokenizer_from_);
  if (!resume) {
    python.add("scheme", python_schemes(choice_.positions()));
    cpp += "plan.settings.model.schemes = " + cpp_schemes(choice_.positions()) + ";\n";
  }
  if (!decoder_schemes_.empty()) {
    python.add("decoder_scheme", python_schemes(decoder_schemes_));
    cpp += "plan.settings.model.decoder_schemes = " + cpp_schemes(decoder_schemes_) + ";\n";
  }
  if (!layer_schemes_.empty()) {
    const auto layers = [](const LayerSchemes& some) {
      return joined(some.layers, ", ", [](std::int64_t layer) { return std::to_string(layer); });
    };
    python.add("layer_schemes", "[" + joined(layer_schemes_, ", ", [&](const LayerSchemes& some) {
                                  return "([" + layers(some) + "], " +
                                         python_schemes(some.schemes) + ")";
                                }) + "]");
    cpp += "plan.settings.model.layer_schemes = {" +
           joined(layer_schemes_, ", ",
                  [&](const LayerSchemes& some) {
                    return "{{" + layers(some) + "}, " + cpp_schemes(some.schemes) + "}";
                  }) +
           "};\n";
  }
  each_part([&](const auto& part) {
    each_given(command, part,
               [&](const std::string& member, const std::string& name, const Option& option,
                   const std::string& text) {
                 python.add(name, python_value(option, text));
                 const bool is_choice = std::holds_alternative<ChoiceRange>(option.range);
                 cpp += "plan." + member + " = " +
                        (is_choice ? "sextant::parse_name<decltype(plan." + member + ")>(" +
                                         string_literal(text) + ", \"" + name + "\")"
                                   : cpp_value(option, text)) +
                        ";\n";
               });
  });
  if (command.count("--augment") > 0) {
    python.add("augment", word_list(command.get_option("--augment")->results(), "[]"));
  }
  if (!resume) python.add("folder", string_literal(folder));
  const std::string function = resume ? "resume" : kind;
  PrintedCall call{.python = "model = sextant.train." + function + "(" + python.text() + ")",
                   .cpp = "sextant::TrainingPlan plan = sextant::" +
                          (resume ? "read_plan(" + string_literal(folder)
                                  : "default_plan(" + string_literal(kind)) +
                          ");\n" + cpp + (resume ? "" : "sextant::fill_defaults(plan);\n") +
                          "auto made = sextant::make_task(plan, " +
                          (resume ? string_literal(folder) : "\"\"") +
                          ");\nplan.trainer.folder = " + string_literal(folder) +
                          ";\nsextant::train(*made.task, plan.trainer);"};
  if (context_parallel != 1) return {.python = {}, .cpp = {}, .missing = "--context-parallel"};
  if (command.count("--augment") > 0) {
    call.cpp.clear();
    call.missing_cpp = "--augment";
  }
  return call;
}

}  // namespace sextant::app

// Lists the options of every call as data, from which generate.py writes signatures and help texts.
#include <nanobind/stl/string.h>

#include "bindings.h"
#include "calls.h"

namespace sextant::python {
namespace {

nb::dict calls() {
  nb::dict result;
  nb::list list;
  const auto add = [&list](const auto& options, const std::vector<Wording>& words,
                           std::string_view task) { list_arguments(list, options, words, task); };
  const auto finish = [&](const char* name) {
    result[name] = list;
    list = nb::list();
  };
  for (const char* kind : kTrainingKinds) {
    TrainingPlan plan = default_plan(kind);
    visit_training(plan, add);
    finish(kind);
  }
  TrainingPlan resumed;
  visit_resumption(resumed, add);
  finish("resume");
  for (const ModelKind kind : {ModelKind::causal, ModelKind::masked, ModelKind::translator}) {
    TransformerConfig config{.kind = kind};
    visit_config(config, add);
    finish(std::string(name_of(kind)).c_str());
  }
  for (const OptimiserMethod method : {OptimiserMethod::adamw, OptimiserMethod::muon}) {
    OptimiserOptions options{.method = method};
    visit_optimiser(options, add);
    finish(std::string(name_of(method)).c_str());
  }
  GenerateOptions generation = default_generation();
  BatchOptions batch;
  visit_generation(generation, batch, add);
  finish("generate");
  add(FillOptions{}, {}, "");
  finish("fill");
  add(LogitLensOptions{}, {}, "");
  finish("logit_lens");
  TranslateOptions translation;
  visit_translation(translation, add);
  finish("translate_lines");
  visit_scored_translation(translation, add);
  finish("evaluate_pairs");
  add(TextWindows{}, {}, "");
  finish("evaluate_text");
  Extrapolation extrapolation;
  visit_extrapolation(extrapolation, add);
  finish("extrapolate");
  return result;
}

}  // namespace

void bind_call_list(nb::module_& module) {
  module.def("calls", &calls, nb::sig("def calls() -> dict[str, list[dict[str, typing.Any]]]"),
             "The options of each call, as the library's lists have them.");
}

}  // namespace sextant::python

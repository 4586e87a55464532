// Which lists of fields are the options of a call, for its signature and for the call itself:
// visit(options, words, task) for each list.
#pragma once

#include "experiments/extrapolation_words.h"
#include "models/generation_words.h"
#include "option_lists.h"
#include "training/tasks/plan_words.h"

namespace sextant::python {

template <class Visit>
void visit_training(TrainingPlan& plan, const Visit& visit) {
  each_part([&](const auto& part) { visit(part.of(plan), part.words, plan.settings.kind); });
}

// The options that a resumed run may change.
template <class Visit>
void visit_resumption(TrainingPlan& plan, const Visit& visit) {
  constexpr const char* kKept = "as the run has it";
  visit(plan.trainer,
        only<TrainerOptions>({{.field = "steps", .default_text = kKept},
                              {.field = "minutes", .default_text = kKept},
                              {.field = "patience", .default_text = kKept},
                              {.field = "threads"}}),
        "");
  visit(plan.epochs, only<EpochOptions>({{.field = "epochs", .default_text = kKept}}), "");
}

// The config of a new model; schemes are arguments of their own.
template <class Visit>
void visit_config(TransformerConfig& config, const Visit& visit) {
  constexpr const char* kTranslator = "translator";
  constexpr const char* kText = "causal masked";
  static const std::vector<Wording> words = {
      {.field = "kind", .hidden = true},
      {.field = "vocabulary", .default_text = "that of the tokenizer"},
      {.field = "schemes", .hidden = true},
      {.field = "layer_schemes", .hidden = true},
      {.field = "decoder_schemes", .hidden = true},
      {.field = "encoder_layers", .tasks = kTranslator},
      {.field = "pointer", .tasks = kTranslator},
      {.field = "target_start", .tasks = kTranslator},
      {.field = "target_end", .tasks = kTranslator},
      {.field = "token_types", .tasks = kText},
      {.field = "logits", .tasks = kText},
      {.field = "logits_transform", .tasks = kText},
      {.field = "parallel_blocks", .tasks = kText},
      {.field = "first_norm", .tasks = kText}};
  visit(config, words, name_of(config.kind));
}

// The options of an optimiser of this method.
template <class Visit>
void visit_optimiser(OptimiserOptions& options, const Visit& visit) {
  static const std::vector<Wording> words = {{.field = "method", .hidden = true},
                                             {.field = "momentum", .tasks = "muon"}};
  visit(options, words, name_of(options.method));
}

template <class Visit>
void visit_generation(GenerateOptions& options, BatchOptions& batch, const Visit& visit) {
  visit(batch, std::vector<Wording>{}, "");
  visit(options, std::vector<Wording>{}, "");
  visit(options.sampling, std::vector<Wording>{}, "");
}

template <class Visit>
void visit_translation(TranslateOptions& options, const Visit& visit) {
  visit(options.search, kSearchWords, "");
  visit(options, std::vector<Wording>{}, "");
}

// The best translation of each source alone.
template <class Visit>
void visit_scored_translation(TranslateOptions& options, const Visit& visit) {
  std::vector<Wording> words = kSearchWords;
  words.push_back({.field = "n_best", .hidden = true});
  visit(options.search, words, "");
  visit(options, std::vector<Wording>{}, "");
}

struct Extrapolation {
  ExtrapolationOptions run = default_extrapolation();
  LanguageDataOptions data{};
};

template <class Visit>
void visit_extrapolation(Extrapolation& options, const Visit& visit) {
  visit(options.run.data, kExtrapolationTaskWords, "");
  visit(options.run, kExtrapolationWords, "");
  visit(options.data, kScoredTextWords, "");
  visit(options.run.model, kExtrapolationModelWords, "");
  visit(options.data.tokenizer, kExtrapolationTokenizerWords, "");
}

// Sets the given options of a call.
inline auto taking(const Given& given) {
  return [&given](auto& options, const std::vector<Wording>& words, std::string_view task) {
    take_arguments(given, options, words, task);
  };
}

}  // namespace sextant::python

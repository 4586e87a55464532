// Writes and reads the budget and the settings of an experiment.
#include "experiments/extrapolation_plan.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "core/json/json.h"
#include "experiments/extrapolation_fields.h"
#include "experiments/of_seed.h"
#include "models/check_kind.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/core/numbers.h"
#include "training/runs/same_json.h"
#include "training/splitmix64.h"

namespace sextant {
namespace {

constexpr int kFormat = 1;
constexpr double kFloor = 0.1;  // of the learning rate, at the end of the cosine

std::string folder_name(const std::string& label) {
  std::string name = label;
  for (char& c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!plain && c != '_' && c != '.') c = '-';
  }
  return name;
}

std::string plan_of(const ExtrapolationOptions& options) { return options.folder + "/plan.json"; }

// Throws for schemes that are none for such a model.
void check_trainable(const ExtrapolationOptions& options, const ExtrapolationScheme& scheme) {
  if (options.trained != nullptr) {
    check_replacement(scheme.schemes, "extrapolation.schemes");
    const TransformerConfig config = config_of(options, scheme);
    (void)PositionModule<float>(config.position_options()).tables(options.data.length);
    return;
  }
  TransformerConfig config = config_of(options, scheme);
  config.vocabulary = 1;
  const LanguageModel<float> model(config);
  (void)model.positions.tables(options.data.length);
}

void check_schemes(const ExtrapolationOptions& options) {
  if (options.schemes.empty()) throw Error("extrapolation.schemes", "must not be empty");
  std::set<std::string> names;
  for (const ExtrapolationScheme& scheme : options.schemes) {
    const std::string name = folder_name(scheme.label);
    if (name.find_first_not_of('.') == std::string::npos || name.ends_with(".json") ||
        name.ends_with(".svg") || name.starts_with(kSeedFolder)) {
      throw Error("extrapolation.schemes",
                  "must have labels for folders, got '" + scheme.label + "'");
    }
    if (!names.insert(name).second) {
      throw Error("extrapolation.schemes", "must not repeat, got " + scheme.label + " again");
    }
    check_trainable(options, scheme);
  }
  if (options.seeds == 1) return;
  const ExtrapolationOptions last = of_seed(options, options.seeds - 1);
  for (const ExtrapolationScheme& scheme : last.schemes) check_trainable(last, scheme);
}

Json model_settings(const ExtrapolationOptions& options) {
  if (options.trained != nullptr) {
    Json json = Json::parse(format_config(options.trained->config));
    json.erase("format");
    json["weights"] = fingerprint(*options.trained);
    return json;
  }
  TransformerConfig model = options.model;
  model.vocabulary = 1;  // the text's matter
  model.length = options.data.length;
  Json json = Json::parse(format_config(model));
  json.erase("format");  // the file has its own number
  json.erase("schemes");
  return json;
}

// Returns the settings that trained weights depend on, without the schemes.
Json settings_of(const ExtrapolationOptions& options) {
  return {{"model", model_settings(options)},
          {"data",
           {{"length", options.data.length},
            {"batch_size", options.data.batch_size},
            {"accumulation_steps", options.data.accumulation_steps},
            {"label_smoothing", options.data.label_smoothing},
            {"seed", options.data.seed}}},
          {"learning_rate", options.learning_rate},
          {"dropout", options.dropout}};
}

}  // namespace

ExtrapolationOptions default_extrapolation() {
  ExtrapolationOptions options;
  // kerple_log is the form of KERPLE that its authors found best.
  for (const char* scheme :
       {"none", "sinusoidal", "learned", "rotary", "alibi", "t5", "kerple_log"}) {
    options.schemes.push_back({scheme, {scheme}});
  }
  options.test_lengths = {128, 256, 512, 1024};
  options.data = {.length = 128, .batch_size = 16};
  options.model.width = 128;
  options.model.heads = 4;
  options.model.layers = 4;
  return options;
}

void train_further(ExtrapolationOptions& options, const TextModel& model) {
  options.trained = &model;
  options.schemes.insert(options.schemes.begin(),
                         {label_of(model.config.schemes) + ", its own", {}});
  options.data.length = std::min(options.data.length, model.config.length);
}

LanguageDataOptions with_small_vocabulary(LanguageDataOptions data) {
  TokenizerTraining& tokenizer = data.tokenizer;
  if (tokenizer.kind == TokenizerKind::subword && tokenizer.vocabulary_size == 0) {
    tokenizer.vocabulary_size = kSmallVocabulary;
  }
  return data;
}

void check_lengths(const ExtrapolationOptions& options,
                   const std::function<std::string(std::string_view)>& where) {
  check_range(at_least(2), where("train_length"), options.data.length);
  const auto& lengths = options.test_lengths;
  if (lengths.empty()) throw Error(where("test_lengths"), "must not be empty");
  for (std::size_t i = 1; i < lengths.size(); ++i) {
    if (lengths[i] > lengths[i - 1]) continue;
    throw Error(where("test_lengths"), "must rise, got " + std::to_string(lengths[i]) + " after " +
                                           std::to_string(lengths[i - 1]));
  }
  if (options.stride > lengths.front()) {
    throw Error(where("stride"), "must be at most the shortest test length, " +
                                     std::to_string(lengths.front()) + ", got " +
                                     std::to_string(options.stride));
  }
}

void check_options(const ExtrapolationOptions& options) {
  if (options.folder.empty()) throw Error("extrapolation.folder", "must not be empty");
  const bool is_trained = options.trained != nullptr;
  check_kind("extrapolation.model", is_trained ? options.trained->config.kind : options.model.kind,
             ModelKind::causal);
  check_fields("extrapolation", options);
  if ((options.steps > 0) == (options.minutes > 0)) {
    throw Error("extrapolation.steps", std::string("must be given, or minutes, got ") +
                                           (options.steps > 0 ? "both" : "none"));
  }
  check_lengths(options,
                [](std::string_view name) { return "extrapolation." + std::string(name); });
  check_seeds(options);
  check_schemes(options);
}

TransformerConfig config_of(const ExtrapolationOptions& options,
                            const ExtrapolationScheme& scheme) {
  if (options.trained != nullptr) {
    const TransformerConfig& own = options.trained->config;
    return scheme.schemes.empty() ? own : with_schemes(own, scheme.schemes);
  }
  TransformerConfig config = options.model;
  config.schemes = scheme.schemes;
  for (SchemeSpec& each : config.schemes) {
    if (each.scheme == "t5") each.parameters.try_emplace("bidirectional", "no");
  }
  config.length = options.data.length;
  return config;
}

TrainerOptions trainer_options(const ExtrapolationOptions& options,
                               const ExtrapolationScheme& scheme, std::int64_t steps) {
  TrainerOptions trainer{.folder = options.folder + "/" + folder_name(scheme.label),
                         .seed = options.data.seed};
  // The second moment of small batches is noisy: it is not kept for longer than 100 steps.
  trainer.optimiser = {.beta2 = 0.99, .weight_decay = 0.1, .clip_norm = 1};
  trainer.schedule = {.decay = Decay::cosine,
                      .peak = options.learning_rate,
                      .warmup = std::min<std::int64_t>(100, steps / 10),
                      .steps = steps,
                      .floor = kFloor * options.learning_rate};
  trainer.dropout = options.dropout;
  Json settings = settings_of(options);
  settings["positions"] = Json::parse(format_config(config_of(options, scheme)))["schemes"];
  trainer.settings = settings.dump();
  trainer.steps = steps;
  trainer.checkpoint_minutes = 1;
  trainer.threads = options.threads;
  if (options.should_stop) {
    trainer.should_stop = [&options](const StepMetrics&) { return options.should_stop(); };
  }
  trainer.clock = options.clock;
  std::error_code ignored;
  trainer.resume = std::filesystem::exists(trainer.folder + "/run.json", ignored);
  return trainer;
}

std::string fingerprint(const TextModel& model) {
  std::string sums;
  for (const auto& each : model.parameters()) {
    sums += checksum_of(
        {reinterpret_cast<const char*>(each.tensor->data()), each.tensor->span().size_bytes()});
  }
  return checksum_of(sums);
}

std::string fingerprint(const std::vector<std::int64_t>& tokens) {
  std::uint64_t sum = splitmix64(0, tokens.size());
  for (const std::int64_t token : tokens) sum = splitmix64(sum, static_cast<std::uint64_t>(token));
  std::string digits;
  for (int shift = 60; shift >= 0; shift -= 4) digits += "0123456789abcdef"[(sum >> shift) & 15];
  return digits;
}

std::int64_t steps_that_fit(double minutes, const std::vector<Measured>& measured, int ranks,
                            std::int64_t seeds) {
  // Each scheme in turn goes to the rank that is free first. More steps never take less time.
  const auto seconds = [&](std::int64_t steps) {
    std::vector<double> busy(static_cast<std::size_t>(ranks));
    for (std::int64_t seed = 0; seed < seeds; ++seed) {
      for (const Measured& one : measured) {
        *std::ranges::min_element(busy) +=
            static_cast<double>(steps) * one.step_seconds + one.scoring_seconds;
      }
    }
    return *std::ranges::max_element(busy);
  };
  std::int64_t fit = 0, too_many = 1'000'000'001;
  while (too_many - fit > 1) {
    const std::int64_t steps = fit + (too_many - fit) / 2;
    (seconds(steps) <= minutes * 60 ? fit : too_many) = steps;
  }
  if (fit >= 1) return fit;
  throw Error("extrapolation.minutes", "must be more than " + significant(seconds(1) / 60, 2) +
                                           " for one step and the scoring of each model, got " +
                                           shortest(minutes));
}

bool is_unplanned(const ExtrapolationOptions& options) {
  std::error_code ignored;
  return options.steps == 0 && !std::filesystem::exists(plan_of(options), ignored);
}

std::int64_t plan_steps(const ExtrapolationOptions& options,
                        const std::vector<std::int64_t>& tokens,
                        const std::vector<Measured>& measured, int ranks) {
  const std::string path = plan_of(options);
  Json settings = settings_of(options);
  settings["text"] = fingerprint(tokens);
  const Json limit = options.steps > 0 ? Json{{"steps", options.steps}, {"minutes", nullptr}}
                                       : Json{{"steps", nullptr}, {"minutes", options.minutes}};
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) {
    try {
      const Json plan = Json::parse_object(read_file(path, JsonLimits{}.bytes), path);
      if (plan.at("format") != kFormat) throw Error(path, "must be of format 1");
      check_same_json(path, "to continue", "", plan.at("settings"), settings);
      check_same_json(path, "to continue", "limit", plan.at("limit"), limit);
      const auto steps = plan.at("steps").get<std::int64_t>();
      if (steps < 1) throw Error(path, "must have at least 1 step, got " + std::to_string(steps));
      return steps;
    } catch (const JsonError& error) {
      throw Error(path, "must be the plan of an extrapolation: " + error.problem());
    }
  }
  Json plan = {{"format", kFormat}, {"steps", options.steps}, {"limit", limit}};
  if (options.steps == 0) {
    plan["steps"] = steps_that_fit(options.minutes, measured, ranks, options.seeds);
    if (options.seeds > 1) plan["seeds"] = options.seeds;
    for (const Measured& one : measured) {
      plan["measured"].push_back({{"label", one.label},
                                  {"step_seconds", one.step_seconds},
                                  {"scoring_seconds", one.scoring_seconds}});
    }
  }
  plan["settings"] = settings;
  write_file(path, plan.dump(2) + "\n");
  return plan["steps"].get<std::int64_t>();
}

}  // namespace sextant

// Options as JSON and back.
#include "training/run_description.h"

#include <cmath>
#include <initializer_list>
#include <utility>

#include "core/json.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/core/names.h"
#include "sextant/core/numbers.h"
#include "sextant/core/parallel.h"

namespace sextant {
namespace {

// 2: with a checksum, and dropout by the token's place in the step.
constexpr int kFormat = 2;
constexpr JsonLimits kSettings{.depth = JsonLimits{}.depth - 1};  // a level of run.json is above

Json to_json(const TrainerOptions& options) {
  const AdamWOptions& adamw = options.optimiser;
  const Schedule& schedule = options.schedule;
  return {{"format", kFormat},
          {"seed", options.seed},
          {"optimiser",
           {{"beta1", adamw.beta1},
            {"beta2", adamw.beta2},
            {"epsilon", adamw.epsilon},
            {"weight_decay", adamw.weight_decay},
            {"clip_norm", adamw.clip_norm}}},
          {"schedule",
           {{"decay", name_of(schedule.decay)},
            {"peak", schedule.peak},
            {"warmup", schedule.warmup},
            {"steps", schedule.steps},
            {"floor", schedule.floor}}},
          {"dropout", options.dropout},
          {"word_dropout", options.word_dropout},
          {"settings", Json::parse(options.settings)}};
}

// Without the checksum, which is that of all the rest.
Json parse_run(const std::string& path, const std::string& text) {
  Json json = Json::parse_object(text, path);
  const Json format = json.value("format", Json());
  if (format != kFormat) {
    throw Error(
        path,
        "must be a run's description of format " + std::to_string(kFormat) + ", got " +
            format.dump() +
            (format == 1
                 ? ", of an earlier version: its models can be used, but the run cannot be resumed"
                 : ""));
  }
  const Json checksum = json.value("checksum", Json());
  json.erase("checksum");
  if (checksum != checksum_of(json.dump())) {
    throw Error(path, "is corrupt: checksum mismatch. An edited run cannot be resumed");
  }
  return json;
}

void check_count(const char* where, std::int64_t count) {
  if (count < 0) throw Error(where, "must be at least 0, got " + std::to_string(count));
}

void check_minutes(const char* where, double minutes) {
  if (!(minutes >= 0) || !std::isfinite(minutes)) {
    throw Error(where, "must be at least 0 and finite, got " + shortest(minutes));
  }
}

// name: "schedule.peak", or empty for the whole.
void check_same(const std::string& path, const std::string& name, const Json& found,
                const Json& wanted) {
  if (found.is_object() && wanted.is_object()) {
    const auto full = [&name](const std::string& key) {
      return name.empty() ? key : name + "." + key;
    };
    for (const auto& [key, value] : wanted.items()) {
      check_same(path, full(key), found.value(key, Json()), value);
    }
    for (const auto& [key, value] : found.items()) {
      if (!wanted.contains(key)) check_same(path, full(key), value, Json());
    }
  } else if (found != wanted) {
    throw Error(path, "must have the same " + name + " to be resumed: it is " + found.dump() +
                          ", asked for " + wanted.dump());
  }
}

}  // namespace

namespace {

// What run.json keeps.
void check_kept(const TrainerOptions& options) {
  if (!(options.dropout >= 0 && options.dropout < 1)) {
    throw Error("trainer.dropout",
                "must be at least 0 and below 1, got " + shortest(options.dropout));
  }
  if (!(options.word_dropout >= 0 && options.word_dropout < 1)) {
    throw Error("trainer.word_dropout",
                "must be at least 0 and below 1, got " + shortest(options.word_dropout));
  }
  Json::parse_object(options.settings, "trainer.settings", kSettings);
  learning_rate(options.schedule, 0);
  AdamW({}, options.optimiser);
}

}  // namespace

void check_options(const TrainerOptions& options) {
  if (options.folder.empty()) throw Error("trainer.folder", "must not be empty");
  check_kept(options);
  check_count("trainer.steps", options.steps);
  check_count("trainer.patience", options.patience);
  check_count("trainer.validate_every", options.validate_every);
  check_count("trainer.checkpoint_every", options.checkpoint_every);
  check_minutes("trainer.minutes", options.minutes);
  check_minutes("trainer.checkpoint_minutes", options.checkpoint_minutes);
  if (options.steps == 0 && options.minutes == 0) {
    throw Error("trainer.steps", "must be above 0 when there are no minutes");
  }
  if (options.patience > 0 && options.validate_every == 0) {
    throw Error("trainer.patience",
                "must be 0 when validate_every is 0, got " + std::to_string(options.patience));
  }
  if (options.threads < 0 || options.threads > kMostThreads) {
    throw Error("trainer.threads", "must be 0 .. " + std::to_string(kMostThreads) + ", got " +
                                       std::to_string(options.threads));
  }
}

std::string describe_run(const TrainerOptions& options) {
  Json json = to_json(options);
  json["checksum"] = checksum_of(json.dump());
  return json.dump(2) + "\n";
}

bool is_description(const std::string& text) noexcept {
  try {
    const Json json = Json::parse_object(text, "run.json");
    return json.contains("format") && json.contains("seed") && json.contains("optimiser");
  } catch (const std::exception&) {
    return false;
  }
}

void check_same_run(const std::string& path, const std::string& description,
                    const TrainerOptions& options) {
  check_same(path, "", parse_run(path, description), to_json(options));
}

TrainerOptions read_run(const std::string& folder) {
  const std::string path = folder + "/run.json";
  const Json json = parse_run(path, read_file(path));
  try {
    TrainerOptions options{.folder = folder, .resume = true};
    options.seed = json.at("seed").get<std::uint64_t>();
    const Json& adamw = json.at("optimiser");
    options.optimiser = {.beta1 = adamw.at("beta1").get<double>(),
                         .beta2 = adamw.at("beta2").get<double>(),
                         .epsilon = adamw.at("epsilon").get<double>(),
                         .weight_decay = adamw.at("weight_decay").get<double>(),
                         .clip_norm = adamw.at("clip_norm").get<double>()};
    const Json& schedule = json.at("schedule");
    options.schedule = {.decay = parse_name<Decay>(schedule.at("decay").get<std::string>(), path),
                        .peak = schedule.at("peak").get<double>(),
                        .warmup = schedule.at("warmup").get<std::int64_t>(),
                        .steps = schedule.at("steps").get<std::int64_t>(),
                        .floor = schedule.at("floor").get<double>()};
    options.dropout = json.at("dropout").get<double>();
    options.word_dropout = json.at("word_dropout").get<double>();
    options.settings = json.at("settings").dump();
    check_kept(options);
    return options;
  } catch (const JsonError& error) {
    throw Error(path, "must be the run.json of a training run: " + error.problem());
  } catch (const Error& error) {
    throw Error(path, std::string("must be the run.json of a training run: ") + error.what());
  }
}

}  // namespace sextant

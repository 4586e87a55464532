// Options as JSON and back.
#include "training/runs/run_description.h"

#include "core/json/fields_json.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/core/numbers.h"
#include "training/runs/same_json.h"
#include "training/training_fields.h"

namespace sextant {
namespace {

// 2: with a checksum, and dropout by the token's place in the step.
constexpr int kFormat = 2;
constexpr JsonLimits kSettings{.depth = JsonLimits{}.depth - 1};  // a level of run.json is above

// The keys of files that are older than others of the list.
constexpr std::string_view kRequired[] = {"seed",         "beta1",     "beta2", "epsilon",
                                          "weight_decay", "clip_norm", "decay", "peak",
                                          "warmup",       "steps",     "floor", "dropout"};

Json described(const TrainerOptions& options) {
  Json json{{"format", kFormat},
            {"seed", options.seed},
            {"optimiser", to_json(options.optimiser)},
            {"schedule", to_json(options.schedule)}};
  write_fields(json, options, kResultFields);
  json["settings"] = Json::parse(options.settings);
  return json;
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

// Checks the values for run.json.
void check_kept(const TrainerOptions& options) {
  check_fields("trainer", options);
  Json::parse_object(options.settings, "trainer.settings", kSettings);
  learning_rate(options.schedule, 0);
  make_optimiser({}, options.optimiser);
}

}  // namespace

void check_options(const TrainerOptions& options) {
  if (options.folder.empty() && (options.resume || options.checkpoint_every > 0)) {
    throw Error("trainer.folder", "must be given for resume and checkpoint_every, got ''");
  }
  check_kept(options);
  if (options.attention_dropout > 0 && options.group != nullptr &&
      options.group->context_parallel_size() > 1) {
    throw Error("trainer.attention_dropout",
                "must be 0 where sequences are divided among ranks, got " +
                    shortest(options.attention_dropout));
  }
  if (options.steps == 0 && options.minutes == 0) {
    throw Error("trainer.steps", "must be above 0 unless minutes are given");
  }
  if (options.patience > 0 && options.validate_every == 0) {
    throw Error("trainer.patience",
                "must be 0 when validate_every is 0, got " + std::to_string(options.patience));
  }
}

std::string describe_run(const TrainerOptions& options) {
  Json json = described(options);
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
  check_same_json(path, "to be resumed", "", parse_run(path, description), described(options),
                  described({}));
}

TrainerOptions read_run(const std::string& folder) {
  const std::string path = folder + "/run.json";
  const Json json = parse_run(path, read_file(path));
  try {
    TrainerOptions options{.folder = folder, .resume = true};
    options.seed = json.at("seed").get<std::uint64_t>();
    read_fields(options.optimiser, json.at("optimiser"), "optimiser", kRequired);
    read_fields(options.schedule, json.at("schedule"), "schedule", kRequired);
    read_fields(options, json, "run", kRequired, kResultFields);
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

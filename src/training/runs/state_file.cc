// Writes JSON with a checksum of itself, so that a damaged byte is found.
#include "training/runs/state_file.h"

#include <filesystem>
#include <limits>
#include <system_error>
#include <vector>

#include "core/json/json.h"
#include "models/checksums.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/core/numbers.h"
#include "training/runs/fsync.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;

constexpr int kStateFormat = 2;  // 2: with the checksum of the metrics
constexpr const char* kName = "/training.json";

struct FileSum {
  std::string name;
  std::size_t bytes;
  std::string checksum;
};
struct Contents {
  TrainingState state;
  std::vector<FileSum> files;
};

Json parse(const std::string& path) {
  const std::string bytes = read_file(path, JsonLimits{}.bytes);
  Json json = Json::parse_object(bytes, path);
  if (!json.value("checksum", Json()).is_string()) {
    throw Error(path, "must be a JSON object with a checksum");
  }
  const bool as_written = json.dump(2) + "\n" == bytes;  // not a digit or a space another
  const std::string wanted = json["checksum"].text();
  json.erase("checksum");
  if (!as_written || checksum_of(json.dump()) != wanted)
    throw Error(path, "is corrupt: checksum mismatch");
  return json;
}

void check_ranges(const std::string& path, const TrainingState& state) {
  const auto check = [&path](const char* key, auto value, auto most) {
    if (value >= 0 && value <= most) return;
    throw Error(path, std::string("must be a training state: ") + key + " must be 0 .. " +
                          shortest(static_cast<double>(most)) + ", got " +
                          shortest(static_cast<double>(value)));
  };
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  check("step", state.step, kMost - 1);
  check("seconds", state.seconds, std::numeric_limits<double>::max());
  check("tokens", state.tokens, kMost);
  check("best_step", state.best_step, state.step);
  check("since_best", state.validations_since_best, state.step);
  check("metrics_bytes", state.metrics_bytes, kMost);
}

Contents read_contents(const std::string& path) {
  const Json json = parse(path);
  try {
    if (json.at("format").get<int>() != kStateFormat) {
      throw Error(path, "must have format " + std::to_string(kStateFormat));
    }
    Contents contents;
    TrainingState& state = contents.state;
    state.step = json.at("step").get<std::int64_t>();
    state.seconds = json.at("seconds").get<double>();
    state.tokens = json.at("tokens").get<std::int64_t>();
    state.mean_loss = json.at("mean_loss").get<double>();
    if (!json.at("best_loss").is_null()) state.best_loss = json["best_loss"].get<double>();
    state.best_step = json.at("best_step").get<std::int64_t>();
    state.validations_since_best = json.at("since_best").get<std::int64_t>();
    state.metrics_bytes = json.at("metrics_bytes").get<std::int64_t>();
    state.metrics_checksum = json.at("metrics_checksum").get<std::string>();
    check_ranges(path, state);
    for (const auto& [name, file] : json.at("files").items()) {
      contents.files.push_back(
          {name, file.at("bytes").get<std::size_t>(), file.at("checksum").get<std::string>()});
    }
    return contents;
  } catch (const JsonError& error) {
    throw Error(path, "must be a training state: " + error.problem());
  }
}

}  // namespace

void write_state(const std::string& folder, const TrainingState& state) {
  std::error_code problem;
  fs::recursive_directory_iterator entry(folder, problem);
  for (; !problem && entry != fs::recursive_directory_iterator(); entry.increment(problem)) {
    const std::string path = entry->path().string();
    entry->is_directory(problem) ? sync_folder(path) : sync_file(path);
  }
  if (problem) throw Error(folder, "cannot be read: " + problem.message());
  Json json = {{"format", kStateFormat},
               {"step", state.step},
               {"seconds", state.seconds},
               {"tokens", state.tokens},
               {"mean_loss", state.mean_loss},
               {"best_loss", state.best_loss ? Json(*state.best_loss) : Json()},
               {"best_step", state.best_step},
               {"since_best", state.validations_since_best},
               {"metrics_bytes", state.metrics_bytes},
               {"metrics_checksum", state.metrics_checksum},
               {"files", checksums_of(folder)}};
  json.sort_keys();
  json["checksum"] = checksum_of(json.dump());
  json.sort_keys();
  write_file(folder + kName, json.dump(2) + "\n");
}

TrainingState read_state(const std::string& folder) { return read_contents(folder + kName).state; }

void check_files(const std::string& folder) {
  const Contents contents = read_contents(folder + kName);
  for (const FileSum& file : contents.files) {
    const std::string path = folder + "/" + file.name;
    const FileChecksum found = checksum_of_file(path);
    if (found.bytes != file.bytes) {
      throw Error(path, "must have " + std::to_string(file.bytes) + " bytes, got " +
                            std::to_string(found.bytes));
    }
    if (found.checksum != file.checksum) {
      throw Error(path, "is corrupt: checksum mismatch");
    }
  }
}

}  // namespace sextant

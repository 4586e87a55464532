// The table as JSON and CSV.
#include <algorithm>
#include <set>
#include <utility>

#include "core/json/fields_json.h"
#include "core/json/json.h"
#include "core/options/enum_names.h"
#include "core/text/csv.h"
#include "experiments/extrapolation_fields.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/core/printable.h"
#include "sextant/experiments/extrapolation.h"
#include "sextant/experiments/seeds.h"

namespace sextant {
namespace {

// Formats of tables of one seed, as before there were several, of several, and with stages.
constexpr std::int64_t kOneSeedFormat = 2, kSeedsFormat = 3, kStagesFormat = 4;

bool has_stages(const ExtrapolationTable& table) {
  return std::ranges::any_of(table.rows, [](const auto& row) { return row.stage.has_value(); });
}

Json to_json(const std::vector<std::int64_t>& lengths, const std::vector<LengthScore>& scores) {
  Json list = Json::array();
  for (std::size_t i = 0; i < scores.size(); ++i) {
    Json entry = {{"length", lengths.at(i)}, {"perplexity", nullptr}};
    if (scores[i].perplexity) {
      entry["perplexity"] = *scores[i].perplexity;
    } else {
      entry["reason"] = scores[i].reason;
    }
    list.push_back(std::move(entry));
  }
  return list;
}

std::vector<LengthScore> scores_of(const Json& list) {
  std::vector<LengthScore> scores;
  for (const Json& entry : list) {
    LengthScore& score = scores.emplace_back();
    if (entry.at("perplexity").is_null()) {
      score.reason = entry.at("reason").get<std::string>();
    } else {
      score.perplexity = entry.at("perplexity").get<double>();
    }
  }
  return scores;
}

Json to_json(const std::vector<std::int64_t>& lengths, const std::vector<SeedScore>& scores) {
  Json list = Json::array();
  for (std::size_t i = 0; i < scores.size(); ++i) {
    Json entry = {{"length", lengths.at(i)}, {"scored", scores[i].scored}};
    entry["perplexity"] = scores[i].perplexity ? Json(*scores[i].perplexity) : Json(nullptr);
    entry["factor"] = scores[i].factor ? Json(*scores[i].factor) : Json(nullptr);
    list.push_back(std::move(entry));
  }
  return list;
}

Json means_of(const ExtrapolationTable& table) {
  Json means = Json::array();
  for (const SchemeScores& scheme : over_seeds(table)) {
    means.push_back({{"label", scheme.label},
                     {"runs", static_cast<std::int64_t>(scheme.seeds.size())},
                     {"segments", to_json(table.lengths, scheme.segments)},
                     {"sliding", to_json(table.lengths, scheme.sliding)}});
  }
  return means;
}

// Throws if a run occurs twice.
void check_runs(const ExtrapolationTable& table, std::string_view where) {
  std::set<std::pair<std::string, std::optional<std::uint64_t>>> runs;
  for (const ExtrapolationRow& row : table.rows) {
    const std::string label = with_stage(row.label, row.stage);
    if (runs.emplace(label, row.seed).second) continue;
    throw Error(where, "must have one row per scheme and seed, got " + label + " again");
  }
}

std::optional<TrainingStage> stage_of(const Json& row, std::string_view where) {
  const Json* stage = row.find("stage");
  if (stage == nullptr) return std::nullopt;
  const auto name = stage->get<std::string>();
  for (const TrainingStage each : {TrainingStage::before, TrainingStage::after}) {
    if (name == name_of(each)) return each;
  }
  throw Error(where, "must have the stages before and after, got " + printable_quote(name));
}

// Format 1 has one scheme; earlier versions called several "positions".
SchemeSpecs schemes_of(const Json& row, std::string_view where) {
  for (const char* const key : {"schemes", "positions"}) {
    const Json* list = row.find(key);
    if (list != nullptr) return read_structs<SchemeSpec>(*list, std::string(where) + "." + key);
  }
  return {{row.at("scheme").get<std::string>(),
           row.at("parameters").get<std::map<std::string, std::string>>()}};
}

}  // namespace

std::string_view name_of(TrainingStage stage) noexcept {
  return enum_name(stage, {"before", "after"});
}

std::string with_stage(const std::string& label, std::optional<TrainingStage> stage) {
  return stage ? label + ", " + std::string(name_of(*stage)) : label;
}

std::string format_json(const ExtrapolationTable& table) {
  const bool stages = has_stages(table), several = table.seeds > 1 || stages;
  Json json = {{"format", stages    ? kStagesFormat
                          : several ? kSeedsFormat
                                    : kOneSeedFormat},
               {"train_length", table.train_length},
               {"steps", table.steps},
               {"stride", table.stride}};
  if (several) json["seeds"] = table.seeds;
  json["scored"] = {{"first", table.scored.first}, {"count", table.scored.count}};
  json["lengths"] = table.lengths;
  json["rows"] = Json::array();
  for (const ExtrapolationRow& row : table.rows) {
    Json entry = {{"label", row.label}};
    if (row.stage) entry["stage"] = name_of(*row.stage);
    if (several) entry["seed"] = row.seed ? Json(*row.seed) : Json(nullptr);
    entry["schemes"] = write_structs(row.schemes);
    entry["weights"] = row.weights;
    entry["seconds"] = row.seconds;
    entry["validation_loss"] = row.validation_loss;
    entry["segments"] = to_json(table.lengths, row.segments);
    entry["sliding"] = to_json(table.lengths, row.sliding);
    json["rows"].push_back(std::move(entry));
  }
  if (table.seeds > 1) json["means"] = means_of(table);
  return json.dump(2, JsonBytes::replace) + "\n";
}

ExtrapolationTable parse_extrapolation(std::string_view text, std::string_view where) {
  try {
    const Json json = Json::parse_object(text, where);
    const auto format = json.at("format").get<std::int64_t>();
    if (format < 1 || format > kStagesFormat) throw Error(where, "must be of format 1, 2, 3 or 4");
    ExtrapolationTable table{
        .train_length = json.at("train_length").get<std::int64_t>(),
        .steps = json.at("steps").get<std::int64_t>(),
        .stride = json.at("stride").get<std::int64_t>(),
        .seeds = format >= kSeedsFormat ? json.at("seeds").get<std::int64_t>() : 1,
        .scored = {json.at("scored").at("first").get<std::int64_t>(),
                   json.at("scored").at("count").get<std::int64_t>()},
        .lengths = json.at("lengths").get<std::vector<std::int64_t>>()};
    check_range(kSeedCount, std::string(where) + ".seeds", table.seeds);
    for (const Json& entry : json.at("rows")) {
      ExtrapolationRow& row = table.rows.emplace_back();
      row.label = entry.at("label").get<std::string>();
      row.stage = stage_of(entry, where);
      if (format >= kSeedsFormat && !entry.at("seed").is_null()) {
        row.seed = entry.at("seed").get<std::uint64_t>();
      }
      row.schemes = schemes_of(entry, where);
      row.weights = entry.at("weights").get<std::int64_t>();
      row.seconds = entry.at("seconds").get<double>();
      row.validation_loss = entry.at("validation_loss").get<double>();
      row.segments = scores_of(entry.at("segments"));
      row.sliding = scores_of(entry.at("sliding"));
      if (row.segments.size() != table.lengths.size() ||
          row.sliding.size() != table.lengths.size()) {
        throw Error(where, "must have a score per length for " + row.label);
      }
    }
    check_runs(table, where);
    return table;
  } catch (const JsonError& error) {
    throw Error(where, "must be a table of extrapolation: " + error.problem());
  }
}

std::string format_csv(const ExtrapolationTable& table) {
  const bool several = table.seeds > 1, stages = has_stages(table);
  std::string text = std::string("scheme,") + (stages ? "stage," : "") + (several ? "seed," : "") +
                     "scoring,length,perplexity\n";
  for (const ExtrapolationRow& row : table.rows) {
    std::string run = csv_cell(row.label);
    if (stages) run += "," + std::string(row.stage ? name_of(*row.stage) : "");
    if (several) run += "," + (row.seed ? std::to_string(*row.seed) : "");
    for (const bool slides : {false, true}) {
      const std::vector<LengthScore>& scores = slides ? row.sliding : row.segments;
      for (std::size_t i = 0; i < scores.size(); ++i) {
        text +=
            run + (slides ? ",sliding," : ",segments,") + std::to_string(table.lengths.at(i)) + ",";
        if (scores[i].perplexity) text += shortest(*scores[i].perplexity);
        text += "\n";
      }
    }
  }
  return text;
}

}  // namespace sextant

// The table as JSON and CSV.

#include "core/fields_json.h"
#include "core/json.h"
#include "models/transformer_fields.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/experiments/extrapolation.h"

namespace sextant {
namespace {

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

// Format 1 has one scheme.
PositionSchemes positions_of(const Json& row, std::string_view where) {
  if (const Json* list = row.find("positions")) {
    return read_structs<PositionScheme>(*list, std::string(where) + ".positions");
  }
  return {{row.at("scheme").get<std::string>(),
           row.at("parameters").get<std::map<std::string, std::string>>()}};
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

}  // namespace

std::string format_json(const ExtrapolationTable& table) {
  Json json = {{"format", 2},
               {"train_length", table.train_length},
               {"steps", table.steps},
               {"stride", table.stride},
               {"scored", {{"first", table.scored.first}, {"count", table.scored.count}}},
               {"lengths", table.lengths},
               {"rows", Json::array()}};
  for (const ExtrapolationRow& row : table.rows) {
    json["rows"].push_back({{"label", row.label},
                            {"positions", write_structs(row.positions)},
                            {"weights", row.weights},
                            {"seconds", row.seconds},
                            {"validation_loss", row.validation_loss},
                            {"segments", to_json(table.lengths, row.segments)},
                            {"sliding", to_json(table.lengths, row.sliding)}});
  }
  return json.dump(2, JsonBytes::replace) + "\n";
}

ExtrapolationTable parse_extrapolation(std::string_view text, std::string_view where) {
  try {
    const Json json = Json::parse_object(text, where);
    if (json.at("format") != 1 && json.at("format") != 2) {
      throw Error(where, "must be of format 1 or 2");
    }
    ExtrapolationTable table{.train_length = json.at("train_length").get<std::int64_t>(),
                             .steps = json.at("steps").get<std::int64_t>(),
                             .stride = json.at("stride").get<std::int64_t>(),
                             .scored = {json.at("scored").at("first").get<std::int64_t>(),
                                        json.at("scored").at("count").get<std::int64_t>()},
                             .lengths = json.at("lengths").get<std::vector<std::int64_t>>()};
    for (const Json& entry : json.at("rows")) {
      ExtrapolationRow& row = table.rows.emplace_back();
      row.label = entry.at("label").get<std::string>();
      row.positions = positions_of(entry, where);
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
    return table;
  } catch (const JsonError& error) {
    throw Error(where, "must be a table of extrapolation: " + error.problem());
  }
}

std::string format_csv(const ExtrapolationTable& table) {
  std::string text = "scheme,scoring,length,perplexity\n";
  for (const ExtrapolationRow& row : table.rows) {
    for (const bool slides : {false, true}) {
      const std::vector<LengthScore>& scores = slides ? row.sliding : row.segments;
      for (std::size_t i = 0; i < scores.size(); ++i) {
        text += quoted(row.label) + (slides ? ",sliding," : ",segments,") +
                std::to_string(table.lengths.at(i)) + ",";
        if (scores[i].perplexity) text += shortest(*scores[i].perplexity);
        text += "\n";
      }
    }
  }
  return text;
}

}  // namespace sextant

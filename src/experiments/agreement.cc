// Options as names and values.
#include "experiments/agreement.h"

#include "core/json/fields_json.h"
#include "experiments/extrapolation_fields.h"
#include "sextant/kernels.h"

namespace sextant {

std::vector<std::pair<std::string, std::string>> compared(
    const ExtrapolationOptions& options, const std::vector<std::int64_t>& tokens,
    const std::vector<std::int64_t>& held_out) {
  std::vector<std::pair<std::string, std::string>> values;
  const auto add = [&values](std::string_view name, const Json& value) {
    values.emplace_back("extrapolation." + std::string(name), value.dump());
  };
  each_field<ExtrapolationOptions>([&](const auto& one) {
    if (one.name != "threads") add(one.name, options.*one.member);
  });
  add("train_length", options.data.length);
  add("batch_size", options.data.batch_size);
  add("accumulation_steps", options.data.accumulation_steps);
  add("label_smoothing", options.data.label_smoothing);
  add("seed", options.data.seed);
  std::string labels;
  for (const ExtrapolationScheme& each : options.schemes) labels += each.label + " ";
  add("schemes", labels);
  for (const ExtrapolationScheme& each : options.schemes) {
    add("model", Json::parse(format_config(config_of(options, each))));
  }
  if (options.trained != nullptr) add("trained", fingerprint(*options.trained));
  add("text", fingerprint(tokens) + " " + fingerprint(held_out));
  values.emplace_back("SEXTANT_TARGET", chosen_target());
  return values;
}

std::string format_measured(const Measured& measured) {
  return Json{{"label", measured.label},
              {"step_seconds", measured.step_seconds},
              {"scoring_seconds", measured.scoring_seconds}}
      .dump();
}

Measured parse_measured(const std::string& text) {
  const Json json = Json::parse(text);
  return {json.at("label").get<std::string>(), json.at("step_seconds").get<double>(),
          json.at("scoring_seconds").get<double>()};
}

}  // namespace sextant

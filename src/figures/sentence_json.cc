// Writes the options of a small model that attends to sentences as JSON.
#include "figures/sentence_json.h"

#include <string>

#include "core/json/option_json.h"
#include "sextant/schemes/scheme.h"

namespace sextant::figures {
namespace {

// Those of one scheme; of several, a list in their order.
Json parameters_of(const SchemeSpecs& schemes) {
  Json list = Json::array();
  for (const auto& [scheme, parameters] : schemes) {
    list.push_back(values_json(find_scheme(scheme).parameters(), parameters));
  }
  if (list.empty()) return Json::object();
  return list.size() == 1 ? list[0] : list;
}

}  // namespace

Json sentence_json(const std::vector<std::string>& queries, const std::vector<std::string>& keys,
                   const SentenceAttentionOptions& options) {
  Json json;
  json["queries"] = queries;
  json["keys"] = keys;
  json["scheme"] = names_of(options.schemes);
  json["parameters"] = parameters_of(options.schemes);
  json["causal"] = options.causal;
  json["width"] = options.width;
  json["seed"] = options.seed;
  if (options.window.left >= 0 || options.window.right >= 0) {
    json["window"] = {options.window.left, options.window.right};
  }
  if (options.temperature != 1) json["temperature"] = options.temperature;
  if (options.softcap != 0) json["softcap"] = options.softcap;
  if (!options.sinks.empty()) json["sinks"] = options.sinks;
  for (const HiddenPair& pair : options.hidden) json["hidden"].push_back({pair.query, pair.key});
  return json;
}

}  // namespace sextant::figures

// Writes a config.json, reads it again and compares the two, to find what a model type does not
// support.
#include "hub/written_config.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "core/text/strings.h"
#include "hub/equivalent.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/core/printable.h"
#include "sextant/hub/save_pretrained.h"
#include "sextant/schemes/scheme.h"

namespace sextant::hub {
namespace {

// Numbers in one spelling.
std::string usual_text(const std::string& text) {
  try {
    return shortest(parse_double(text, "hub"));
  } catch (const Error&) {
    return text;
  }
}

// Whether a parameter is of keys after the query, which causal models do not see.
bool is_of_future(std::string_view scheme, std::string_view parameter) {
  return (scheme == "window" && parameter == "right") ||
         (scheme == "alibi" && parameter == "direction");
}

// Returns the scheme without parameters that have their default values.
SchemeSpec usual(const SchemeSpec& spec, const TransformerConfig& c) {
  SchemeSpec kept(spec.scheme);
  for (const Option& option : find_scheme(spec.scheme).parameters()) {
    const auto given = spec.parameters.find(std::string(option.name));
    if (given == spec.parameters.end() || option.name == "seed") continue;
    const std::string text = usual_text(given->second);
    if (text == usual_text(option.default_text)) continue;
    if (option.name == "rotary_dim" && text == std::to_string(c.head_dim)) continue;
    if (c.kind == ModelKind::causal && is_of_future(spec.scheme, option.name)) continue;
    kept.parameters[given->first] = text;
  }
  return kept;
}

SchemeSpecs usual(const SchemeSpecs& specs, const TransformerConfig& c) {
  SchemeSpecs kept;
  for (const SchemeSpec& each : specs) {
    if (each.scheme != "none") kept.push_back(usual(each, c));
  }
  return kept;
}

// Equal for models that are equal.
Json usual(const TransformerConfig& given) {
  TransformerConfig c = equivalents(given).front();
  const TransformerConfig none;
  c.schemes = usual(c.schemes, c);
  for (LayerSchemes& each : c.layer_schemes) each.schemes = usual(each.schemes, c);
  const bool has_length = std::ranges::any_of(c.schemes, [](const SchemeSpec& each) {
    return each.scheme == "learned" || find_scheme(each.scheme).length_class != nullptr;
  });
  if (!has_length) c.length = none.length;
  if (!c.logits) c.tied = true;
  // Which biases there are, however it is said.
  if (c.bias) c.qkv_bias = c.out_bias = c.ffn_bias = true;
  c.bias = c.qkv_bias && c.out_bias && c.ffn_bias;
  if (c.attention_scale == 1 / std::sqrt(static_cast<double>(c.head_dim))) c.attention_scale = 0;
  c.seed = none.seed;
  return Json::parse_object(format_config(c), "config");
}

struct Difference {
  std::string key, wanted, got;
};

std::vector<Difference> differences(const TransformerConfig& ours, TransformerConfig read) {
  if (ours.token_types == 1) read.token_types = 1;  // the others' rows are zeros
  const Json a = usual(ours), b = usual(read);
  std::vector<Difference> all;
  const auto text = [](const Json& json, const std::string& key) {
    return json.contains(key) ? json[key].dump() : std::string("the default");
  };
  for (const Json* each : {&b, &a}) {
    for (const auto& [key, value] : each->items()) {
      const std::string wanted = text(b, key), got = text(a, key);
      if (wanted == got || std::ranges::count(all, key, &Difference::key) > 0) continue;
      all.push_back({key, wanted, got});
    }
  }
  return all;
}

// The nearest model type so far, and its differences.
struct Nearest {
  std::string_view model_type;
  std::vector<Difference> differences{};
  std::string refused{};  // why its config.json cannot be read, in place of them
};

[[noreturn]] void fail(const Nearest& nearest, const std::string& where, bool alone) {
  std::string what = "must be of a model that " +
                     std::string(alone ? "" : "one of the model types ") +
                     (alone ? std::string(nearest.model_type) + " has" : "has");
  what += alone ? ":" : ": of the nearest, " + std::string(nearest.model_type) + ",";
  if (!nearest.refused.empty()) throw Error(where, what + " " + nearest.refused);
  for (const Difference& each : nearest.differences) {
    what += (&each == nearest.differences.data() ? " " : "; ") + each.key + " must be " +
            each.wanted + ", got " + each.got;
  }
  throw Error(where, what);
}

// Keeps the more informative of the two.
void keep_nearer(std::optional<Nearest>& nearest, Nearest other) {
  const auto distance = [](const Nearest& n) {
    return n.refused.empty() ? n.differences.size() : std::size_t{1000};
  };
  if (!nearest || distance(other) < distance(*nearest)) nearest = std::move(other);
}

// Returns the config of the text if it is one of ours; else the differences.
std::optional<TransformerConfig> compare(const std::vector<TransformerConfig>& ours,
                                         const Family& family, const std::string& text,
                                         const std::string& path, std::optional<Nearest>& nearest) {
  TransformerConfig read;
  try {
    const Json json = Json::parse_object(text, path);
    read = family.config(ConfigObject(json, path), parse_model_config(text, path));
  } catch (const Error& error) {
    keep_nearer(nearest, {family.model_type, {}, error.what()});
    return std::nullopt;
  }
  for (const TransformerConfig& each : ours) {
    auto found = differences(each, read);
    if (found.empty()) return each;
    keep_nearer(nearest, {family.model_type, std::move(found)});
  }
  return std::nullopt;
}

std::string written(const Family& family, const TransformerConfig& c) {
  Json json = family.write(c);
  json["model_type"] = family.model_type;
  json["vocab_size"] = c.vocabulary;
  json["tie_word_embeddings"] = c.tied;
  return json.dump(2) + "\n";
}

}  // namespace

WrittenConfig write_config(const TransformerConfig& config, const std::string& model_type,
                           const std::string& where) {
  std::optional<Nearest> nearest;
  for (const TransformerConfig& form : equivalents(config)) {
    for (const Family* family : families()) {
      if (family->write == nullptr) continue;
      if (!model_type.empty() && model_type != family->model_type) continue;
      std::string text = written(*family, form);
      if (compare({form}, *family, text, "config.json", nearest)) {
        return {family, std::move(text), form};
      }
    }
  }
  if (!nearest) {
    throw Error("save_pretrained.model_type", "must be " + joined(written_model_types(), ", ") +
                                                  ", got " + printable_quote(model_type));
  }
  fail(*nearest, where, !model_type.empty());
}

WrittenConfig match_config(const TransformerConfig& config, const std::string& text,
                           const std::string& path, const std::string& where) {
  std::optional<Nearest> nearest;
  const Json json = Json::parse_object(text, path);
  const Family& family = find_family(ConfigObject(json, path));
  if (auto found = compare(equivalents(config), family, text, path, nearest)) {
    return {&family, text, *std::move(found)};
  }
  fail(*nearest, where, true);
}

}  // namespace sextant::hub

// rope_scaling and rope_parameters. Meaning of the keys: Hugging Face, modeling_rope_utils.py, and
// the papers of the schemes.
#include "interop/config/rope.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/options/option_text.h"
#include "sextant/core/numbers.h"
#include "sextant/core/printable.h"

namespace sextant::interop {
namespace {

using Parameters = std::map<std::string, std::string>;

constexpr std::string_view kTypes =
    "default, linear, dynamic, yarn, longrope (su), llama3, proportional or mrope";

// One of two places of a value; both only when they agree.
std::optional<double> one_of(const ConfigObject& rope, std::string_view key,
                             std::optional<double> inside, std::optional<double> beside,
                             std::string_view beside_key) {
  if (inside && beside && *inside != *beside) {
    rope.fail(key, "must be the same as " + std::string(beside_key) + ", " + shortest(*beside) +
                       ", got " + shortest(*inside));
  }
  return inside ? inside : beside;
}

// "rope_type" and its old name "type"; "su" is longrope's first name, and "mrope" was a type before
// mrope_section alone said it.
std::string type_of(const ConfigObject& rope) {
  const auto canonical = [&](std::string_view key) -> std::optional<std::string> {
    auto name = rope.text(key);
    if (!name) return name;
    if (*name == "su") return "longrope";
    if (*name == "mrope") return "default";
    for (const char* known :
         {"default", "linear", "dynamic", "yarn", "longrope", "llama3", "proportional"}) {
      if (*name == known) return name;
    }
    rope.fail(key, "must be " + std::string(kTypes) + ", got " + printable_quote(*name));
  };
  const auto type = canonical("rope_type"), old = canonical("type");
  if (type && old && *type != *old) {
    rope.fail("type", "must be the same as rope_type, " + *type + ", got " + *old);
  }
  return type.value_or(old.value_or("default"));
}

class RopeReader {
 public:
  // `dim` channels of a head are rotated.
  RopeReader(const ConfigObject& config, const ConfigObject& rope, const RopeContext& context,
             std::int64_t dim, RopeSetting& setting)
      : config_(config), rope_(rope), context_(context), dim_(dim), setting_(setting) {}

  void read(const std::string& type) {
    if (context_.default_sections || rope_.has("mrope_section") ||
        rope_.text("rope_type") == "mrope" || rope_.text("type") == "mrope") {
      sections();
    }
    if (type == "default") return plain();
    if (type == "linear") return linear();
    if (type == "dynamic") return dynamic();
    if (type == "yarn") return yarn();
    if (type == "longrope") return longrope();
    if (type == "llama3") return llama3();
    proportional();
  }

 private:
  void finish(std::string keys) {
    const auto length = rope_.integer("max_position_embeddings");  // of the model, once more
    if (length && context_.max_positions && length != context_.max_positions) {
      rope_.fail("max_position_embeddings", "must be the same as that of the model, " +
                                                std::to_string(*context_.max_positions) + ", got " +
                                                std::to_string(*length));
    }
    if (has_sections_)
      keys += std::string(keys.empty() ? "" : ", ") + "mrope_section, mrope_interleaved";
    rope_.refuse_unread("this rope type has rope_type, rope_theta, partial_rotary_factor" +
                            (keys.empty() ? "" : ", " + keys),
                        config_);
  }
  void put(const char* name, const std::string& text) { setting_.parameters[name] = text; }
  void put_number(const char* key, const char* name) {
    if (const auto value = rope_.number(key)) put(name, shortest(*value));
  }
  double factor() { return rope_.need(rope_.positive("factor"), "factor"); }
  // Returns the length of training: outside or inside, else the model's longest.
  std::int64_t original() {
    const auto inside = rope_.integer("original_max_position_embeddings");
    auto beside = context_.original;
    if (!beside && context_.default_original > 0) beside = context_.default_original;
    if (inside && beside && *inside != *beside) {
      rope_.fail("original_max_position_embeddings",
                 "must be the same as original_max_position_embeddings of the model" +
                     std::string(context_.original ? "" : " type") + ", " +
                     std::to_string(*beside) + ", got " + std::to_string(*inside));
    }
    const auto found = inside ? inside : beside;
    return found ? *found : longest();
  }
  // For types without a length of training: it may repeat the other values.
  void repeated_length(double factor) {
    constexpr std::string_view kKey = "original_max_position_embeddings";
    const auto inside = rope_.integer(kKey);
    if (!inside || !context_.max_positions || inside == context_.original) return;
    const auto longest = static_cast<double>(*context_.max_positions);
    const auto given = static_cast<double>(*inside);
    if (given == longest || given * factor == longest) return;
    rope_.fail(kKey, "must repeat max_position_embeddings, " + shortest(longest) +
                         (factor == 1 ? "" : ", or that over the factor, " + shortest(factor)) +
                         ", because this rope type has no length of training, got " +
                         shortest(given));
  }
  std::int64_t longest() {
    if (!context_.max_positions) {
      rope_.fail("original_max_position_embeddings",
                 "must be given, because max_position_embeddings is not");
    }
    return *context_.max_positions;
  }

  void plain() {
    setting_.scheme = has_sections_ ? "rotary_sections" : "rotary";
    repeated_length(1);
    finish("");
  }
  void linear() {
    setting_.scheme = "rotary_linear";
    put("factor", shortest(factor()));
    repeated_length(factor());
    finish("factor");
  }
  void dynamic() {
    setting_.scheme = "rotary_dynamic_ntk";
    put("factor", shortest(factor()));
    repeated_length(factor());
    put("max_length", std::to_string(longest()));
    finish("factor");
  }
  void yarn() {
    setting_.scheme = "rotary_yarn";
    const std::int64_t length = original();
    auto factor = rope_.positive("factor");
    if (!factor && context_.max_positions) {
      factor = static_cast<double>(*context_.max_positions) / static_cast<double>(length);
    }
    setting_.factor = rope_.need(factor, "factor");
    put("factor", shortest(setting_.factor));
    put("original_length", std::to_string(length));
    put_number("beta_fast", "beta_fast");
    put_number("beta_slow", "beta_slow");
    if (const auto truncate = rope_.flag("truncate")) put("truncate", *truncate ? "yes" : "no");
    put_number("attention_factor", "attention_factor");
    put_number("mscale", "mscale");
    put_number("mscale_all_dim", "mscale_all_dim");
    setting_.mscale_all_dim = rope_.number("mscale_all_dim").value_or(0);
    std::string more;
    if (context_.query_scale) {
      if (const auto beta = rope_.number("llama_4_scaling_beta")) {
        put("attn_scale", shortest(*beta));
        put("floor_scale", std::to_string(length));
        put("floor_offset", "0");
      }
      more = ", llama_4_scaling_beta";
    }
    rope_.flag("finetuned");  // how the weights came to be; nothing is computed from it
    finish(
        "factor, original_max_position_embeddings, beta_fast, beta_slow, truncate, "
        "attention_factor, mscale, mscale_all_dim, finetuned" +
        more);
  }
  void longrope() {
    setting_.scheme = "rotary_longrope";
    const auto list = [&](const char* key) {
      const auto values = rope_.need(rope_.numbers(key), key);
      put(key, option_text(values));
      return values.size();
    };
    const std::size_t short_count = list("short_factor"), long_count = list("long_factor");
    if (short_count != long_count) {
      rope_.fail("long_factor", "must be as many numbers as short_factor, " +
                                    std::to_string(short_count) + ", got " +
                                    std::to_string(long_count));
    }
    const std::int64_t length = original();
    put("original_length", std::to_string(length));
    if (context_.max_positions) put("max_length", std::to_string(*context_.max_positions));
    if (const auto given = rope_.positive("factor")) put("factor", shortest(*given));
    put_number("attention_factor", "attention_factor");
    finish("short_factor, long_factor, factor, original_max_position_embeddings, attention_factor");
  }
  void llama3() {
    setting_.scheme = "rotary_llama3";
    put("factor", shortest(factor()));
    const double low = rope_.need(rope_.positive("low_freq_factor"), "low_freq_factor");
    const double high = rope_.need(rope_.positive("high_freq_factor"), "high_freq_factor");
    put("low_freq_factor", shortest(low));
    put("high_freq_factor", shortest(high));
    put("original_length", std::to_string(original()));
    finish("factor, low_freq_factor, high_freq_factor, original_max_position_embeddings");
  }
  void proportional() {
    setting_.scheme = "rotary_proportional";
    // The same key as of partial rotation, with another meaning: all channels make pairs.
    put("proportion",
        shortest(rope_.number("partial_rotary_factor").value_or(context_.partial.value_or(1))));
    if (const auto given = rope_.positive("factor")) put("factor", shortest(*given));
    setting_.parameters.erase("rotary_dim");
    finish("factor");
  }
  // For every rope type: says which id rotates which pair.
  void sections() {
    if (!context_.default_sections) {
      rope_.fail("mrope_section", "is not known for this model type");
    }
    has_sections_ = true;
    const bool interleaved =
        rope_.flag("mrope_interleaved").value_or(context_.sections_interleaved);
    if (rope_.is_null("mrope_section")) rope_.fail("mrope_section", "must not be null");
    const auto given = rope_.integers("mrope_section");
    put("sections", option_text(given ? *given : default_sections(interleaved)));
    put("order", interleaved ? "interleaved" : "sectioned");
  }
  std::vector<std::int64_t> default_sections(bool interleaved) {
    const auto& sections = *context_.default_sections;
    std::vector<std::int64_t> list(sections.begin(), sections.end());
    const std::int64_t pairs = dim_ / 2;
    if (std::accumulate(list.begin(), list.end(), std::int64_t{0}) == pairs) return list;
    if (!interleaved) {
      rope_.fail("mrope_section", "must be given, because " + option_text(list) +
                                      ", which the model type takes without it, does not sum to " +
                                      std::to_string(pairs) + " pairs");
    }
    // Every third pair rotates by the row, every third by the column, as far as the sections and
    // the pairs go; the others rotate by the time.
    list[0] = pairs;
    for (std::int64_t axis = 1; axis < 3; ++axis) {
      list[axis] = (std::min(3 * list[axis], pairs) - axis + 2) / 3;
      list[0] -= list[axis];
    }
    return list;
  }

  const ConfigObject& config_;
  const ConfigObject& rope_;
  const RopeContext& context_;
  const std::int64_t dim_;
  RopeSetting& setting_;
  bool has_sections_ = false;
};

}  // namespace

RopeSetting read_rope(const ConfigObject& config, const ConfigObject* rope,
                      const RopeContext& context) {
  static const Json kNothing = Json::object();
  const ConfigObject nothing(kNothing, config.where());
  const ConfigObject& entry = rope != nullptr ? *rope : nothing;

  RopeSetting setting;
  const std::string type = type_of(entry);
  const auto base =
      one_of(entry, "rope_theta", entry.positive("rope_theta"), context.base, context.base_key);
  if (!base && entry.is_null("rope_theta")) entry.fail("rope_theta", "must not be null");
  if (!base && config.is_null(context.base_key)) config.fail(context.base_key, "must not be null");
  setting.parameters["base"] = shortest(base.value_or(context.default_base));
  setting.parameters["layout"] = std::string(name_of(context.layout));
  if (context.last) setting.parameters["span"] = "last";

  const auto partial =
      one_of(entry, "partial_rotary_factor", entry.positive("partial_rotary_factor"),
             context.partial, "partial_rotary_factor");
  if (!partial && entry.is_null("partial_rotary_factor")) {
    entry.fail("partial_rotary_factor", "must not be null");
  }
  if (!context.reads_partial && type != "default" && type != "proportional" &&
      partial.value_or(1) != 1) {
    const ConfigObject& where = entry.has("partial_rotary_factor") ? entry : config;
    where.fail("partial_rotary_factor",
               "must be 1 with this rope type: the model type rotates all channels, got " +
                   shortest(*partial));
  }
  // Where the class of a model type does not read the key, it has no effect.
  const double part = context.reads_partial ? partial.value_or(context.default_partial) : 1;
  if (part > 1) config.fail("partial_rotary_factor", "must be at most 1, got " + shortest(part));
  std::int64_t dim = context.rotary_dim;
  if (dim == 0) dim = static_cast<std::int64_t>(static_cast<double>(context.head_dim) * part);
  if (dim > context.head_dim) {
    config.fail("rotary_dim", "must be at most the " + std::to_string(context.head_dim) +
                                  " channels of a head, got " + std::to_string(dim));
  }
  if ((dim % 2 != 0 || dim < 2) && type != "proportional") {
    config.fail("partial_rotary_factor", "must leave an even number of channels to rotate, got " +
                                             std::to_string(dim) + " of " +
                                             std::to_string(context.head_dim));
  }
  if (dim != context.head_dim) setting.parameters["rotary_dim"] = std::to_string(dim);
  RopeReader(config, entry, context, dim, setting).read(type);
  return setting;
}

}  // namespace sextant::interop

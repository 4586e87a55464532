// Applies one rule to all of them: a key that repeats a read value, or has no effect, is no loss.
// The words of a key determine what it repeats, so every spelling of a window or a base is
// recognised.
#include "interop/config/other_keys.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "core/text/strings.h"
#include "sextant/core/numbers.h"

namespace sextant::interop {
namespace {

template <std::size_t N>
using Words = std::array<std::string_view, N>;

// "_sliding_window_size_": in lower case, so that "_window_" is a whole word of it.
std::string words_of(std::string_view key) {
  std::string words = "_";
  for (const char c : key) {
    const bool upper = c >= 'A' && c <= 'Z';
    words += upper ? static_cast<char>(c - 'A' + 'a') : c == '-' || c == '.' ? '_' : c;
  }
  return words + "_";
}

template <std::size_t N>
bool has_any(const std::string& words, const Words<N>& list) {
  return std::ranges::any_of(
      list, [&](std::string_view each) { return words.find(each) != std::string::npos; });
}

constexpr Words<33> kPositions = {"_rope",        "_mrope",        "_nope_",
                                  "_norope",      "_rotary",       "_alibi",
                                  "_position",    "_pos_att",      "_pos_emb",
                                  "_rel_pos",     "_max_rel",      "_relative",
                                  "_xpos",        "_ntk",          "_logn",
                                  "_window",      "_sliding",      "_swa_",
                                  "_sink_",       "_sinks_",       "_layer_types_",
                                  "_dual_chunk",  "_attn_chunk",   "_attention_chunk",
                                  "_local_att",   "_global_att",   "_attention_types_",
                                  "_attn_scale_", "_floor_scale",  "_temperature_tuning",
                                  "_attn_logit",  "_attn_softcap", "_attention_logit"};
constexpr Words<2> kRotary = {"_rope", "_rotary"};
constexpr Words<3> kWindow = {"_window", "_sliding", "_swa_"};
constexpr Words<3> kWhichLayers = {"_layers_", "_pattern_", "_every_"};
constexpr Words<2> kBase = {"theta_", "_base_"};
constexpr Words<5> kPart = {"_pct_", "_percent_", "_percentage_", "_fraction_", "_partial_"};
constexpr Words<4> kChannels = {"_dim_", "_dims_", "_ndim_", "_ndims_"};
constexpr Words<6> kFactor = {"factor_", "_scale_",      "_scaling_",
                              "_alpha_", "_multiplier_", "mscale_"};
constexpr Words<2> kLayout = {"_interleave_", "_interleaved_"};

// Last in a key.
bool is_factor(const std::string& words) {
  return std::ranges::any_of(kFactor, [&](std::string_view end) { return words.ends_with(end); });
}

// "use_rope", "rotary", "alibi_embeddings": whether the model has the scheme at all.
bool asks_for(std::string words, std::string_view scheme) {
  const auto at = words.find("_" + std::string(scheme) + "_");
  if (at == std::string::npos) return false;
  words.erase(at, scheme.size() + 1);
  for (const std::string_view each : {"_use_", "_is_", "_with_", "_position_", "_positional_",
                                      "_embedding_", "_embeddings_", "_emb_", "_encoding_"}) {
    const auto found = words.find(each);
    if (found != std::string::npos) words.erase(found, each.size() - 1);
  }
  return words == "_";
}

[[noreturn]] void contradict(const ConfigObject& object, const Json::Member& member,
                             const std::string& read) {
  object.fail(member.key,
              "must repeat the value of the other keys, " + read + ", got " + member.value.dump());
}

}  // namespace

bool has_no_effect(std::string_view key, const Json& value) {
  if (value.is_null() || value == Json(false)) return true;
  if (value.is_structured()) return value.empty();
  if (value.is_string()) return value.text().empty();
  return value.is_number() && value == Json(is_factor(words_of(key)) ? 1 : 0);
}

OtherKeys::OtherKeys(const ModelConfig& config)
    : model_type_(config.model_type), max_positions_(config.max_positions) {
  const LayerPositions* last = nullptr;
  for (const LayerPositions& layer : config.layers) {
    if (last == nullptr || !(layer == *last)) add(layer);
    last = &layer;
  }
}

void OtherKeys::add(const LayerPositions& layer) {
  schemes_.insert(layer.scheme);
  if (layer.window_left >= 0) {  // w keys, the query's own among them, or half of w to each side
    windows_.insert(static_cast<double>(
        layer.window_right > 0 ? layer.window_left + layer.window_right : layer.window_left + 1));
  }
  const auto layout = layer.parameters.find("layout");
  if (layout == layer.parameters.end()) return;
  const auto number = [&](const char* name, double by_default) {
    const auto found = layer.parameters.find(name);
    return found == layer.parameters.end() ? by_default : parse_double(found->second, name);
  };
  const auto head_dim = static_cast<double>(layer.head_dim);
  const double channels = number("rotary_dim", head_dim);
  layouts_.insert(layout->second);
  bases_.insert(number("base", 10000));
  factors_.insert(number("factor", 1));
  channels_.insert(channels);
  parts_.insert(number("proportion", channels / head_dim));
  if (layer.parameters.contains("original_length")) {
    original_lengths_.insert(number("original_length", 0));
  }
}

bool OtherKeys::repeats_number(const ConfigObject& object, const Json::Member& member,
                               const std::string& words) const {
  const auto given = member.value.get<double>();
  std::set<double> read;
  if (has_any(words, kWindow)) {
    if (!has_windows()) return given <= 0 || has_any(words, kWhichLayers);
    if (!has_any(words, kWhichLayers)) read = windows_;
  } else if (words.find("_max_position") != std::string::npos) {
    read = original_lengths_;
    if (max_positions_ > 0) read.insert(static_cast<double>(max_positions_));
  } else if (rotates() && has_any(words, kRotary)) {
    read = has_any(words, kBase)       ? bases_
           : has_any(words, kPart)     ? parts_
           : has_any(words, kChannels) ? channels_
           : is_factor(words)          ? factors_
                                       : read;
  }
  if (read.empty() || read.contains(given)) return !read.empty();
  contradict(object, member, joined(read, " or ", [](double value) { return shortest(value); }));
}

bool OtherKeys::repeats_flag(const ConfigObject& object, const Json::Member& member,
                             const std::string& words) const {
  std::optional<bool> read;
  if (asks_for(words, "alibi")) {
    read = has("alibi");
  } else if (asks_for(words, "rope") || asks_for(words, "rotary")) {
    read = rotates();
  } else if (words.starts_with("_use_") && has_any(words, kWindow)) {
    read = has_windows();
  } else if (layouts_.size() == 1 && has_any(words, kRotary) && has_any(words, kLayout)) {
    read = layouts_.contains("interleaved");
  }
  if (read && Json(*read) != member.value) contradict(object, member, *read ? "true" : "false");
  return read.has_value();
}

// Checks the values of position_embedding_type and similar keys.
bool OtherKeys::repeats_name(std::string_view name) const {
  const std::string words = words_of(name);
  if (has_any(words, kRotary)) return rotates();
  if (words == "_absolute_" || words.starts_with("_learned_")) return has("learned");
  return has(name);
}

void OtherKeys::check_key(const ConfigObject& object, const Json::Member& member,
                          const std::string& why) const {
  const auto& [key, value] = member;
  const std::string words = words_of(key);
  if (value.is_null() || !has_any(words, kPositions)) return;
  if (value.is_number() && repeats_number(object, member, words)) return;
  if (value.is_boolean() && repeats_flag(object, member, words)) return;
  if (value.is_string() && key.ends_with("_type") && repeats_name(value.text())) return;
  if (has_no_effect(key, value)) return;
  object.fail(key, "is about positions, but " + why +
                       ": it would be lost (remove it to read the model without it)");
}

void OtherKeys::check(const ConfigObject& object) const {
  for (const Json::Member* each : object.unread()) {
    check_key(object, *each, "is not known for the model type " + model_type_);
  }
}

void OtherKeys::check_beside(const ConfigObject& outer, const ConfigObject& text) const {
  std::map<std::string_view, const Json*> inner;  // a config may have a million keys
  for (const auto& [key, value] : text.json().items()) inner.emplace(key, &value);
  for (const Json::Member& each : outer.json().items()) {
    const auto inside = inner.find(each.key);
    if (inside == inner.end()) {
      check_key(outer, each, "is not in text_config, but only text_config is read");
    } else if (!each.value.is_null() && *inside->second != each.value &&
               has_any(words_of(each.key), kPositions)) {
      outer.fail(each.key, "must be the same as in text_config");
    }
  }
}

}  // namespace sextant::interop

// Configurations: checks, parts, JSON.
#include "sextant/models/transformer_config.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "core/enum_names.h"
#include "core/json.h"

namespace sextant {
namespace {

void check_size(const char* name, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value < least || value > most) {
    throw Error(std::string("transformer.") + name, "must be " + std::to_string(least) + " .. " +
                                                        std::to_string(most) + ", got " +
                                                        std::to_string(value));
  }
}

// One field after the other, for writing and for reading alike.
template <class Config, class Field>
void each_field(Config& c, const Field& field) {
  field("kind", c.kind);
  field("vocabulary", c.vocabulary);
  field("width", c.width);
  field("heads", c.heads);
  field("heads_k", c.heads_k);
  field("layers", c.layers);
  field("encoder_layers", c.encoder_layers);
  field("hidden", c.hidden);
  field("activation", c.activation);
  field("norm", c.norm);
  field("pre_norm", c.pre_norm);
  field("bias", c.bias);
  field("tied", c.tied);
  field("pointer", c.pointer);
  field("scheme", c.scheme);
  field("scheme_parameters", c.scheme_parameters);
  field("length", c.length);
  field("seed", c.seed);
}

// Of config.json. Raised when a reader of today would take a new file for something else; a new
// field whose default is what was there before it needs no new number.
constexpr int kFormat = 1;

// What every format has had. Other fields may be absent: they are as TransformerConfig begins.
constexpr std::string_view kRequired[] = {"kind",   "vocabulary", "width", "heads",
                                          "layers", "scheme",     "length"};

// Files of the first days have no number.
void check_format(const Json& json, const std::string& where) {
  const Json* format = json.find("format");
  if (format == nullptr) return;
  if (!format->is_integer() || format->get<std::int64_t>() < 1) {
    throw Error(where + ".format", "must be an integer of at least 1, got " + format->dump());
  }
  if (format->get<std::int64_t>() > kFormat) {
    throw Error(where + ".format", "must be at most " + std::to_string(kFormat) + ", got " +
                                       format->dump() +
                                       ": the model was saved by a newer version of sextant");
  }
}

struct Reader {
  const Json& json;
  std::string where;

  template <class T>
  void operator()(const char* key, T& value) const {
    const Json* found = json.find(key);
    if (found == nullptr) {
      if (std::ranges::find(kRequired, key) == std::end(kRequired)) return;
      throw Error(where, std::string("must have the key ") + key);
    }
    const std::string at = where + "." + key;
    try {
      if constexpr (std::is_same_v<T, ModelKind>) {
        value = parse_name<ModelKind>(found->get<std::string>(), at);
      } else if constexpr (std::is_same_v<T, Activation>) {
        value = parse_name<Activation>(found->get<std::string>(), at);
      } else if constexpr (std::is_same_v<T, NormKind>) {
        value = parse_name<NormKind>(found->get<std::string>(), at);
      } else {
        found->get_to(value);
      }
    } catch (const JsonError& error) {
      throw Error(at, error.problem());
    }
  }
};

struct Writer {
  Json& json;

  template <class T>
  void operator()(const char* key, const T& value) const {
    if constexpr (std::is_enum_v<T>) {
      json[key] = std::string(name_of(value));
    } else {
      json[key] = value;
    }
  }
};

}  // namespace

std::string_view name_of(ModelKind kind) noexcept {
  return enum_name(kind, {"causal", "masked", "translator"});
}

std::string described(ModelKind kind) {
  if (kind == ModelKind::translator) return "a translator";
  return "a " + std::string(name_of(kind)) + " language model";
}

void check_config(const TransformerConfig& c) {
  check_size("vocabulary", c.vocabulary, 1, std::int64_t{1} << 24);
  check_size("width", c.width, 1, 1 << 16);
  check_size("heads", c.heads, 1, c.width);
  check_size("heads_k", c.heads_k, 0, c.heads);
  check_size("layers", c.layers, 1, 1000);
  check_size("encoder_layers", c.encoder_layers, 0, 1000);
  check_size("hidden", c.hidden, 0, 1 << 20);
  check_size("length", c.length, 1, std::int64_t{1} << 24);
  if (c.width % c.heads != 0) {
    throw Error("transformer.heads", "must divide width = " + std::to_string(c.width) + ", got " +
                                         std::to_string(c.heads));
  }
  if (c.heads_k > 0 && c.heads % c.heads_k != 0) {
    throw Error("transformer.heads_k", "must divide heads = " + std::to_string(c.heads) + ", got " +
                                           std::to_string(c.heads_k));
  }
  if (c.pointer && c.kind != ModelKind::translator) {
    throw Error("transformer.pointer", "must be false for a model that is not a translator");
  }
}

StackOptions TransformerConfig::stack(bool encoder) const {
  StackOptions options;
  options.layers = encoder && encoder_layers > 0 ? encoder_layers : layers;
  options.attention = {.width = width, .heads = heads, .heads_k = heads_k};
  options.hidden = hidden;
  options.activation = activation;
  options.norm = norm;
  options.pre_norm = pre_norm;
  options.causal = !encoder;
  options.cross = !encoder && kind == ModelKind::translator;
  options.bias = bias;
  return options;
}

PositionOptions TransformerConfig::positions() const {
  return {.scheme = scheme,
          .parameters = scheme_parameters,
          .width = width,
          .heads = heads,
          .head_dim = width / heads,
          .length = length};
}

std::string format_config(const TransformerConfig& config) {
  Json json;
  json["format"] = kFormat;
  each_field(config, Writer{json});
  return json.dump(2) + "\n";
}

TransformerConfig parse_config(std::string_view text, std::string_view where) {
  const Json json = Json::parse_object(text, where);
  check_format(json, std::string(where));
  TransformerConfig config;
  each_field(config, Reader{json, std::string(where)});
  std::set<std::string> known{"format"};
  each_field(config, [&known](const char* key, const auto&) { known.insert(key); });
  for (const auto& [key, value] : json.items()) {
    if (!known.contains(key)) throw Error(where, "must not have the unknown key " + key);
  }
  check_config(config);
  return config;
}

}  // namespace sextant

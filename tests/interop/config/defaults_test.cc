// Absent keys and null, as the configuration classes of `transformers` take them: what they write
// is in class_defaults/class_defaults.json.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "core/json/json.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/interop/model_config.h"
#include "support/folders.h"

namespace sextant {

// How a failed comparison is printed.
void PrintTo(const LayerPositions& layer, std::ostream* out) {
  *out << layer.scheme << " width " << layer.width << " heads " << layer.heads << "/"
       << layer.kv_heads << " of " << layer.head_dim << " window " << layer.window_left << " chunk "
       << layer.chunk << " rows " << layer.table_rows;
  for (const auto& [name, value] : layer.parameters) *out << " " << name << "=" << value;
}

namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Json object_of(const std::string& model_type) {
  Json json = Json::object();
  json["model_type"] = model_type;
  return json;
}

Json with(Json json, const Json& changes) {
  for (const auto& [key, value] : changes.items()) json[key] = value;
  return json;
}

Json without(const Json& json, const std::string& left_out) {
  Json rest = Json::object();
  for (const auto& [key, value] : json.items()) {
    if (key != left_out) rest[key] = value;
  }
  return rest;
}

// What is read, or the error's text.
struct Outcome {
  std::optional<ModelConfig> config;
  std::string error;
};
Outcome read(const Json& json) {
  try {
    return {parse_model_config(json.dump(), "c"), ""};
  } catch (const Error& error) {
    return {std::nullopt, error.what()};
  }
}

void expect_same(const Json& json, const Json& full) {
  SCOPED_TRACE(json.dump());
  const Outcome a = read(json), b = read(full);
  ASSERT_TRUE(a.config.has_value() == b.config.has_value()) << a.error << "\n" << b.error;
  if (!a.config) return;
  EXPECT_EQ(a.config->max_positions, b.config->max_positions);
  EXPECT_EQ(a.config->layers, b.config->layers);
}

LayerPositions first_layer(const std::string& json) { return parse_model_config(json).layers[0]; }

// Calls test(model type, what the class writes, its entry) for each model type.
template <class Test>
void for_each_type(const Test& test) {
  const std::string path =
      tests::data_folder() + "/interop/config/class_defaults/class_defaults.json";
  const Json file = Json::parse_object(read_file(path, 1 << 20), path);
  int count = 0;
  for (const auto& [type, entry] : file.items()) {
    if (type == "transformers") continue;
    SCOPED_TRACE(type);
    ++count;
    test(type, with(object_of(type), entry["config"]), entry);
  }
  EXPECT_EQ(count, 58);
}

TEST(ConfigDefaults, AreComparedForEveryModelTypeThatIsRead) {
  const std::string all = read(object_of("hyena")).error;
  const std::string lead = "must be one of ";
  const auto from = all.find(lead) + lead.size();
  const std::string names = ", " + all.substr(from, all.find(", got ") - from) + ",";
  std::size_t compared = 0;
  for_each_type([&](const std::string& type, const Json&, const Json&) {
    EXPECT_THAT(names, HasSubstr(", " + type + ","));
    ++compared;
  });
  EXPECT_EQ(std::count(names.begin(), names.end() - 1, ','), compared) << names;
}

TEST(ConfigDefaults, ReadWhatEveryClassWritesOfItself) {
  for_each_type([](const std::string& type, const Json& full, const Json&) {
    const Outcome outcome = read(full);
    EXPECT_TRUE(outcome.config.has_value()) << type << ": " << outcome.error;
  });
}

TEST(ConfigDefaults, AreTheClassesWhereEveryKeyIsAbsent) {
  for_each_type([](const std::string& type, const Json& full, const Json&) {
    expect_same(object_of(type), full);
  });
}

TEST(ConfigDefaults, AreTheClassesWhereOneKeyIsAbsent) {
  for_each_type([](const std::string&, const Json& full, const Json& entry) {
    for (const Json::Member& each : entry["config"].items()) {
      SCOPED_TRACE(each.key);
      expect_same(without(full, each.key), full);
    }
  });
}

TEST(ConfigDefaults, AreTheClassesBesideKeysThatAreGiven) {
  for_each_type([](const std::string& type, const Json& full, const Json& entry) {
    for (const Json& each : entry["given"]) {
      const Json json = with(object_of(type), each["given"]);
      EXPECT_EQ(read(json).error, "");
      expect_same(json, with(full, each["changes"]));
    }
  });
}

// Where one class refuses null, but others take it, it is what those take it for.
TEST(ConfigDefaults, TakeNullAsTheClassesDo) {
  for_each_type([](const std::string& type, const Json& full, const Json& entry) {
    for (const auto& [key, changes] : entry["null"].items()) {
      SCOPED_TRACE(key);
      Json json = object_of(type);
      json[key] = Json();
      if (changes != Json("refused")) {
        Json changed = with(full, changes);
        // With null the class still names layers that have windows or chunks; no model runs so.
        if (key == "sliding_window" || key == "attention_chunk_size") changed.erase("layer_types");
        // For null these classes write nothing: two models take that for 1, two cannot be made.
        if (key == "partial_rotary_factor" && changes.contains("rope_parameters")) {
          changed["rope_parameters"][key] = type.starts_with("glm") ? Json(1) : Json();
        }
        expect_same(json, changed);
      } else if (key == "num_key_value_heads") {
        const LayerPositions layer = first_layer(json.dump());
        EXPECT_EQ(layer.kv_heads, layer.heads);
      } else if (key == "head_dim") {
        if (type == "gpt_oss") json["hidden_size"] = 4096;  // its own makes heads of 45 channels
        const LayerPositions layer = first_layer(json.dump());
        EXPECT_EQ(layer.head_dim, layer.width / layer.heads);
      } else if (key == "use_sliding_window" || key == "max_window_layers" ||
                 key == "partial_rotary_factor") {
        expect_same(json, full);  // no window, whichever layers it would be for; all channels
      } else {
        EXPECT_FALSE(read(json).config.has_value()) << "must be refused";
      }
    }
  });
}

// A few numbers by hand, so that the two sides above cannot be wrong together.
TEST(ConfigDefaults, HaveTheseNumbers) {
  const ModelConfig mistral = parse_model_config(R"({"model_type":"mistral"})");
  EXPECT_EQ(mistral.max_positions, 131072);
  ASSERT_EQ(mistral.layers.size(), 32U);
  EXPECT_EQ(mistral.layers[0].width, 4096);
  EXPECT_EQ(mistral.layers[0].heads, 32);
  EXPECT_EQ(mistral.layers[0].kv_heads, 8);
  EXPECT_EQ(mistral.layers[0].head_dim, 128);
  EXPECT_EQ(mistral.layers[0].window_left, 4095);
  EXPECT_EQ(first_layer(R"({"model_type":"mistral","num_key_value_heads":null})").kv_heads, 32);
  EXPECT_EQ(first_layer(R"({"model_type":"qwen3","hidden_size":1024})").head_dim, 128);
  EXPECT_EQ(first_layer(R"({"model_type":"gemma"})").head_dim, 256);
  EXPECT_EQ(first_layer(R"({"model_type":"gptj"})").parameters.at("rotary_dim"), "64");
  EXPECT_EQ(first_layer(R"({"model_type":"t5"})").head_dim, 64);
  EXPECT_EQ(first_layer(R"({"model_type":"mt5"})").heads, 6);
  EXPECT_EQ(first_layer(R"({"model_type":"roberta"})").table_rows, 512);
  EXPECT_EQ(first_layer(R"({"model_type":"falcon"})").kv_heads, 1);
  EXPECT_EQ(first_layer(R"({"model_type":"falcon","multi_query":null})").kv_heads, 71);
  EXPECT_EQ(first_layer(R"({"model_type":"phi"})").parameters.at("rotary_dim"), "32");
  EXPECT_FALSE(first_layer(R"({"model_type":"glm","partial_rotary_factor":null})")
                   .parameters.contains("rotary_dim"));
  const LayerPositions deepseek = first_layer(R"({"model_type":"deepseek_v3"})");
  EXPECT_EQ(deepseek.head_dim, 192);
  EXPECT_EQ(deepseek.parameters.at("rotary_dim"), "64");
  EXPECT_EQ(deepseek.parameters.at("layout"), "interleaved");
  EXPECT_EQ(
      first_layer(R"({"model_type":"deepseek_v3","rope_interleave":null})").parameters.at("layout"),
      "half_split");
}

TEST(ConfigDefaults, GiveMptAlibiWhereNothingIsSaidOfAttention) {
  for (const char* more : {"", R"(,"attn_config":null)", R"(,"attn_config":{})"}) {
    const std::string json = std::string(R"({"model_type":"mpt")") + more + "}";
    EXPECT_EQ(first_layer(json).scheme, "alibi") << more;
  }
  EXPECT_EQ(first_layer(R"({"model_type":"mpt","attn_config":{"alibi":false}})").scheme, "learned");
}

TEST(ConfigDefaults, GiveWindowsToTheLayersOfTheClass) {
  const auto windows = [](const std::string& type, const std::string& more) {
    std::string text;
    for (const LayerPositions& layer :
         parse_model_config("{\"model_type\":\"" + type +
                            R"(","num_hidden_layers":8,"use_sliding_window":true,)" + more + "}")
             .layers) {
      text += layer.window_left == 15 ? 'w' : layer.window_left == -1 ? '.' : '?';
    }
    return text;
  };
  const std::string from_five = R"("sliding_window":16,"max_window_layers":5)";
  EXPECT_EQ(windows("qwen2", from_five), ".....www");
  EXPECT_EQ(windows("qwen3", from_five), ".....www");
  EXPECT_EQ(windows("qwen2_moe", from_five), "w.w.w...");
  EXPECT_EQ(windows("qwen3_moe", from_five), "wwwwwwww");
  EXPECT_EQ(windows("smollm3", R"("sliding_window":16)"), "...w...w");
}

TEST(ConfigDefaults, TurnImagesBySectionsWhereNoneAreGiven) {
  const LayerPositions two = first_layer(R"({"model_type":"qwen2_vl"})");
  EXPECT_EQ(two.scheme, "rotary_sections");
  EXPECT_EQ(two.parameters.at("sections"), "16,24,24");
  EXPECT_EQ(two.parameters.at("order"), "sectioned");
  const LayerPositions three = first_layer(R"({"model_type":"qwen3_vl_text"})");
  EXPECT_EQ(three.scheme, "rotary_sections");
  EXPECT_EQ(three.parameters.at("sections"), "24,20,20");
  EXPECT_EQ(three.parameters.at("order"), "interleaved");
  // Every third pair up to the 60th is of rows, the next of columns, whatever the head.
  EXPECT_EQ(
      first_layer(R"({"model_type":"qwen3_vl_text","head_dim":32})").parameters.at("sections"),
      "6,5,5");
  EXPECT_EQ(
      first_layer(R"({"model_type":"qwen3_vl_text","head_dim":256})").parameters.at("sections"),
      "88,20,20");
  EXPECT_EQ(read(Json{{"model_type", "qwen2_vl"}, {"hidden_size", 512}}).error,
            "[c] mrope_section must be given, because 16,24,24, which the model type takes without "
            "it, does not sum to 4 pairs");
}

TEST(ConfigDefaults, TakePhi3ForTrainedOn4096) {
  std::string list = "[1";
  for (int i = 1; i < 48; ++i) list += ",1";
  list += "]";
  const std::string rope = R"({"model_type":"phi3","max_position_embeddings":131072,)"
                           R"("rope_scaling":{"type":"longrope","short_factor":)" +
                           list + R"(,"long_factor":)" + list;
  EXPECT_EQ(first_layer(rope + "}}").parameters.at("original_length"), "4096");
  EXPECT_EQ(first_layer(rope + R"(},"original_max_position_embeddings":8192})")
                .parameters.at("original_length"),
            "8192");
  EXPECT_THAT([&] { first_layer(rope + R"(,"original_max_position_embeddings":8192}})"); },
              ThrowsMessage<Error>(HasSubstr("must be the same as")));
}

// Three layers all rotate; the keys of those that do not are known none the less.
TEST(ConfigDefaults, KnowTheKeysOfLayersThatAModelDoesNotHave) {
  EXPECT_EQ(first_layer(R"({"model_type":"llama4_text","num_hidden_layers":3,)"
                        R"("attn_temperature_tuning":true,"floor_scale":8192,"attn_scale":0.1})")
                .scheme,
            "rotary");
}

TEST(ConfigDefaults, TakeEmptyScalingForNone) {
  EXPECT_EQ(first_layer(R"({"model_type":"gpt_oss","rope_scaling":{}})").scheme, "rotary_yarn");
  EXPECT_EQ(first_layer(R"({"model_type":"gpt_oss","rope_parameters":{}})").scheme, "rotary");
  EXPECT_EQ(first_layer(R"({"model_type":"llama","rope_scaling":{},)"
                        R"("rope_parameters":{"rope_type":"linear","factor":2}})")
                .scheme,
            "rotary_linear");
}

TEST(ConfigDefaults, FillNestedSettingsThatAreAbsent) {
  for (const char* nested : {"{}", R"({"full_attention":null})",
                             R"({"full_attention":{"rope_type":"default","rope_theta":1e6}})"}) {
    const ModelConfig config = parse_model_config(
        std::string(R"({"model_type":"gemma3_text","rope_parameters":)") + nested + "}");
    EXPECT_EQ(config.layers[0].parameters.at("base"), "10000") << nested;
    EXPECT_EQ(config.layers[5].parameters.at("base"), "1000000") << nested;
  }
}

TEST(ConfigDefaults, AreNamedInErrorsThatComeOfThem) {
  EXPECT_THAT([] { first_layer(R"({"model_type":"qwen2","num_attention_heads":8})"); },
              ThrowsMessage<Error>(
                  "[config] num_key_value_heads must divide the 8 heads of queries, got 32, which "
                  "the model type takes where the key is absent"));
  EXPECT_THAT([] { first_layer(R"({"model_type":"llama","hidden_size":null})"); },
              ThrowsMessage<Error>("[config] hidden_size must not be null"));
}

}  // namespace
}  // namespace sextant

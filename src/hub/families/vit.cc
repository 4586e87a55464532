// ViT (Dosovitskiy et al. 2020) and DeiT (Touvron et al. 2020), which adds a distillation token:
// encoders over the patches of images. A convolution whose stride is its kernel is the linear map
// of each patch.
#include <algorithm>
#include <string>
#include <utility>

#include "hub/decoder_names.h"
#include "hub/families.h"
#include "hub/image_families.h"
#include "hub/written_keys.h"
#include "sextant/core/printable.h"

namespace sextant::hub {
namespace {

// A mask token and the decoder of masked image modelling take no part in the hidden states.
constexpr std::string_view kSkipped[] = {"embeddings.mask_token", "decoder."};
constexpr ImageFamily kVit = {"vit", {"vit.", kSkipped}};
constexpr ImageFamily kDeit = {"deit", {"deit.", kSkipped}};

constexpr DecoderNames kLayers = {.layers = "encoder.layer.",
                                  .q = "attention.attention.query",
                                  .k = "attention.attention.key",
                                  .v = "attention.attention.value",
                                  .out = "attention.output.dense",
                                  .up = "intermediate.dense",
                                  .down = "output.dense",
                                  .self_norm = "layernorm_before",
                                  .feed_forward_norm = "layernorm_after",
                                  .norms = NormParts::gain_and_bias};

// One number for both sides, or a list of height and width.
std::pair<std::int64_t, std::int64_t> sides(const ConfigObject& object, const std::string& key,
                                            std::int64_t by_default) {
  if (object.is_absent(key) || !object.json()[key].is_array()) {
    const std::int64_t side = object.integer_or(key, by_default);
    return {side, side};
  }
  const auto list = *object.integers(key);
  if (list.size() == 2 && list[0] > 0 && list[1] > 0) return {list[0], list[1]};
  object.fail(key, "must be a positive number, or a list of two: height and width");
}

// The names of the classes, from id2label; two without names by default, as transformers has.
void read_classes(const ConfigObject& object, ImageConfig& c) {
  c.classes = object.integer_or("num_labels", 2);
  if (!object.has("id2label")) return;
  const Json& names = object.json()["id2label"];
  if (!names.is_object() || names.empty()) object.fail("id2label", "must be an object of names");
  const auto count = static_cast<std::int64_t>(names.size());
  if (object.has("num_labels") && c.classes != count) {
    object.fail("num_labels", "must be the number of names in id2label, " + std::to_string(count) +
                                  ", got " + std::to_string(c.classes));
  }
  c.classes = count;
  for (std::int64_t i = 0; i < c.classes; ++i) {
    const Json* const name = names.find(std::to_string(i));
    if (name == nullptr || !name->is_string()) {
      object.fail("id2label",
                  "must have a name for each number from 0 on, got none for " + std::to_string(i));
    }
    c.labels.push_back(name->get<std::string>());
  }
}

Json side(std::int64_t height, std::int64_t width) {
  if (height == width) return height;
  return Json::array({height, width});
}

}  // namespace

const ImageFamily* find_image_family(std::string_view model_type) noexcept {
  for (const ImageFamily* each : {&kVit, &kDeit}) {
    if (each->model_type == model_type) return each;
  }
  return nullptr;
}

const ImageFamily& family_of(const ImageConfig& config) noexcept {
  return config.distillation ? kDeit : kVit;
}

ImageConfig read_image_config(const ConfigObject& object) {
  refuse_changes(object);
  ImageConfig c;
  std::tie(c.image_height, c.image_width) = sides(object, "image_size", c.image_height);
  std::tie(c.patch_height, c.patch_width) = sides(object, "patch_size", c.patch_height);
  if (c.image_height % c.patch_height != 0 || c.image_width % c.patch_width != 0) {
    object.fail("image_size", "must be a multiple of patch_size");
  }
  c.channels = object.integer_or("num_channels", c.channels);
  c.width = object.integer_or("hidden_size", c.width);
  c.heads = object.integer_or("num_attention_heads", c.heads);
  if (c.width % c.heads != 0) {
    object.fail("num_attention_heads", "must divide hidden_size = " + std::to_string(c.width) +
                                           ", got " + std::to_string(c.heads));
  }
  c.layers = object.integer_or("num_hidden_layers", c.layers);
  c.ffn_width = object.integer_or("intermediate_size", c.ffn_width);
  c.activation = activation_of(object, "hidden_act", "gelu");
  c.norm_epsilon = object.positive_or("layer_norm_eps", c.norm_epsilon);
  c.qkv_bias = object.flag_or("qkv_bias", true);
  c.distillation = object.text("model_type") == "deit";
  c.pooler_width = object.integer("pooler_output_size").value_or(c.width);
  if (const auto pooler = object.text("pooler_act"); pooler && *pooler != "tanh") {
    object.fail("pooler_act", "must be tanh, got " + printable_quote(*pooler));
  }
  c.distillation_head = is_class(object, {"DeiTForImageClassificationWithTeacher"});
  if (c.distillation_head ||
      is_class(object, {"ViTForImageClassification", "DeiTForImageClassification"})) {
    read_classes(object, c);
  }
  return c;
}

Json write_image_config(const ImageConfig& c) {
  const std::string family = c.distillation ? "DeiT" : "ViT";
  Json json;
  json["architectures"] =
      Json::array({family + (c.distillation_head ? "ForImageClassificationWithTeacher"
                             : c.classes > 0     ? "ForImageClassification"
                                                 : "Model")});
  json["model_type"] = family_of(c).model_type;
  json["image_size"] = side(c.image_height, c.image_width);
  json["patch_size"] = side(c.patch_height, c.patch_width);
  json["num_channels"] = c.channels;
  json["hidden_size"] = c.width;
  json["num_attention_heads"] = c.heads;
  json["num_hidden_layers"] = c.layers;
  json["intermediate_size"] = c.ffn_width;
  json["hidden_act"] = name_in_hub(c.activation);
  json["layer_norm_eps"] = c.norm_epsilon;
  json["qkv_bias"] = c.qkv_bias;
  if (c.pooler_width > 0) json["pooler_output_size"] = c.pooler_width;
  if (c.classes == 0) return json;
  json["id2label"] = Json::object();
  json["label2id"] = Json::object();
  for (std::int64_t i = 0; i < c.classes; ++i) {
    const std::string name =
        c.labels.empty() ? "LABEL_" + std::to_string(i) : c.labels[static_cast<std::size_t>(i)];
    json["id2label"][std::to_string(i)] = name;
    json["label2id"][name] = i;
  }
  return json;
}

void add_image_weights(const ImageConfig& c, WeightTable& table) {
  const GridSize grid = c.grid();
  const std::string patches = "embeddings.patch_embeddings.projection";
  table.take_rows("patches.weight", patches + ".weight",
                  {c.width, c.channels, c.patch_height, c.patch_width}, {{0, c.width}});
  table.take_rows("patches.bias", patches + ".bias", {c.width}, {{0, c.width}});
  table.take_rows("tokens", "embeddings.cls_token", {1, 1, c.width}, {{0, 1}});
  if (c.distillation) {
    table.take_rows("tokens", "embeddings.distillation_token", {1, 1, c.width}, {{0, 1}});
  }
  table.take_rows("positions", "embeddings.position_embeddings",
                  {1, c.prefix() + grid.rows * grid.columns, c.width}, {{0, 1}});
  const TransformerConfig stack = c.transformer();
  add_layers(stack, kLayers, table);
  table.norm("stack.final_norm", "layernorm", c.width, stack.norm, kLayers.norms);
  if (c.pooler_width > 0) {
    table.linear("pooler", {{"pooler.dense", c.pooler_width}}, c.width, true);
  }
  if (c.classes == 0) return;
  table.linear("output", {{c.distillation_head ? "cls_classifier" : "classifier", c.classes}},
               c.width, true);
  if (!c.distillation_head) return;
  table.linear("output.distillation", {{"distillation_classifier", c.classes}}, c.width, true);
}

}  // namespace sextant::hub

// Image models of the hub against what transformers computes of them in float64
// (tests/hub/golden/make_golden.py), and what is refused.
#include "sextant/hub/image_models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "hub/expected.h"
#include "hub/golden_model.h"
#include "sextant/core/error.h"
#include "sextant/hub/load_pretrained.h"
#include "support/temporary_folder.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// The roundings of a stack of language, those of the linear map of a patch and the sum with its
// position, and of a mean of two logits.
void expect_of_images(std::span<const float> got, std::span<const double> wanted,
                      const ImageConfig& c, std::int64_t tokens) {
  ASSERT_EQ(got.size(), wanted.size());
  const double most = largest(wanted);
  const double bound = bound_of(c.transformer(), most, tokens) +
                       static_cast<double>(c.patch_size() + 4) * 0x1p-24 * most;
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], wanted[i], bound) << i;
}

void expect_image_model(const std::string& name, const ImageModel& model) {
  const Expected expected(name);
  const Tensor<float> images = expected.file.tensors.at("images").to<float>();
  const auto view = std::as_const(images).view();
  Workspace memory;
  Pass pass{memory};
  const Tensor<double> hidden = expected.numbers("hidden");
  const auto tokens = hidden.size(2);
  const auto states = model.hidden_states(view, pass);
  ASSERT_EQ(std::ssize(states), hidden.size(0));
  for (std::int64_t i = 0; i < hidden.size(0); ++i) {
    SCOPED_TRACE("after layer " + std::to_string(i));
    const auto count = static_cast<std::size_t>(hidden.count() / hidden.size(0));
    const Tensor<float>& state = states[static_cast<std::size_t>(i)];
    EXPECT_EQ(state.shape(), (Shape{hidden.size(1), tokens, hidden.size(3)}));
    expect_of_images(state.span(),
                     hidden.span().subspan(static_cast<std::size_t>(i) * count, count),
                     model.config, tokens);
  }
  const auto expect = [&](const char* key, const Tensor<float>& got) {
    SCOPED_TRACE(key);
    const Tensor<double> wanted = expected.numbers(key);
    EXPECT_EQ(got.shape(), wanted.shape());
    expect_of_images(got.span(), wanted.span(), model.config, tokens);
  };
  expect("last", model.last_hidden_states(view, pass));
  EXPECT_EQ(expected.has("pooled"), model.pooler.has_value());
  if (expected.has("pooled")) expect("pooled", model.vectors(view, pass));
  EXPECT_EQ(expected.has("logits"), model.output.has_value());
  if (expected.has("logits")) expect("logits", model.logits(view, pass));
  const Tensor<double> maps = expected.numbers("attention");  // [layers, images, heads, ...]
  for (std::int64_t image = 0; image < images.size(0); ++image) {
    const auto got = model.attention_maps(view.select(0, image), pass);
    for (std::int64_t i = 0; i < maps.size(0); ++i) {
      const Tensor<double> wanted =
          copy_of(std::as_const(maps).view().select(0, i).select(0, image));
      SCOPED_TRACE("attention of layer " + std::to_string(i));
      expect_of_images(got.at(static_cast<std::size_t>(i)).span(), wanted.span(), model.config,
                       tokens);
    }
  }
  if (!expected.has("wide_images")) return;
  const Tensor<float> wide = expected.file.tensors.at("wide_images").to<float>();
  expect("wide_last", model.last_hidden_states(std::as_const(wide).view(), pass));
}

class PretrainedImageModel : public ::testing::TestWithParam<const char*> {};

TEST_P(PretrainedImageModel, IsWhatTransformersComputes) {
  expect_image_model(GetParam(), load_image_model(golden_folder(GetParam())));
}

// transformers reads it again as a check of its own: `make_golden.py` has the names.
TEST_P(PretrainedImageModel, IsWrittenAsItWasRead) {
  const TemporaryFolder place;
  const std::string folder = place / "again";
  const ImageModel model = load_image_model(golden_folder(GetParam()));
  save_image_model(model, folder);
  const ChangedModel before(GetParam());
  const auto after = load_safetensors(folder + "/model.safetensors").tensors;
  ASSERT_EQ(before.tensors.size(), after.size());
  for (const auto& [name, array] : before.tensors) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(after.contains(name));
    EXPECT_EQ(after.at(name).shape, array.shape);
    const auto a = array.to<float>(), b = after.at(name).to<float>();
    EXPECT_TRUE(std::ranges::equal(a.span(), b.span()));
  }
  const Json json = Json::parse(read_file(folder + "/config.json"));
  for (const char* key : {"architectures", "model_type", "image_size", "patch_size", "num_channels",
                          "hidden_size", "hidden_act", "qkv_bias", "layer_norm_eps"}) {
    EXPECT_EQ(json[key].dump(), before.config[key].dump()) << key;
  }
  const ImageModel again = load_image_model(folder);
  EXPECT_EQ(format_image_config(again.config), format_image_config(model.config));
  expect_image_model(GetParam(), again);
  EXPECT_THAT([&] { save_image_model(model, folder); }, ThrowsMessage<Error>(HasSubstr("again")));
  EXPECT_THAT([&] { save_image_model(model, place / "other", DType::int64); },
              ThrowsMessage<Error>(HasSubstr("[save_image_model.dtype] must be float32, ")));
}

// Matrices of 16 bits have the bits of the rounded ones.
TEST_P(PretrainedImageModel, TakesMatricesOf16Bits) {
  const ImageModel narrow = load_image_model(golden_folder(GetParam()), WeightType::bfloat16);
  ImageModel rounded = load_image_model(golden_folder(GetParam()));
  const auto as = narrow.parameters();
  auto to = rounded.parameters();
  for (std::size_t i = 0; i < to.size(); ++i) {
    as[i].tensor.with_tensor([&](const auto& numbers) {
      std::ranges::transform(numbers.span(), to[i].tensor->data(),
                             [](auto x) { return static_cast<float>(x); });
    });
  }
  const Tensor<float> images = Expected(GetParam()).file.tensors.at("images").to<float>();
  Workspace memory;
  Pass pass{memory};
  const auto a = narrow.last_hidden_states(images.view(), pass);
  const auto b = rounded.last_hidden_states(images.view(), pass);
  EXPECT_TRUE(std::ranges::equal(a.span(), b.span()));
}

INSTANTIATE_TEST_SUITE_P(Families, PretrainedImageModel,
                         ::testing::Values("vit", "vit_bare", "vit_classes", "deit",
                                           "deit_teacher"),
                         [](const auto& each) { return std::string(each.param); });

TEST(ImageModel, NamesItsTokens) {
  EXPECT_THAT(load_image_model(golden_folder("vit_bare")).token_names({1, 2}),
              ElementsAre("[CLS]", "0,0", "0,1"));
  EXPECT_THAT(load_image_model(golden_folder("deit")).token_names({2, 1}),
              ElementsAre("[CLS]", "[DIST]", "0,0", "1,0"));
  EXPECT_THAT(load_image_model(golden_folder("vit_classes")).config.labels,
              ElementsAre("cat", "dog", "zebra"));
}

TEST(ImageModel, ReadsImagesOfAnyStrides) {
  const ImageModel model = load_image_model(golden_folder("vit"));
  const Tensor<float> images = Expected("vit").file.tensors.at("images").to<float>();
  Tensor<float> turned({2, 3, 12, 12});
  for (std::int64_t i = 0; i < 2; ++i) {
    for (std::int64_t c = 0; c < 3; ++c) {
      for (std::int64_t y = 0; y < 12; ++y) {
        for (std::int64_t x = 0; x < 12; ++x) turned(i, c, x, y) = images(i, c, y, x);
      }
    }
  }
  Workspace memory;
  Pass pass{memory};
  const auto a = model.vectors(images.view(), pass);
  const auto b = model.vectors(std::as_const(turned).view().transpose(2, 3), pass);
  EXPECT_TRUE(std::ranges::equal(a.span(), b.span()));
}

TEST(ImageModel, HasTheSameBitsForAnyThreadsAndBatches) {
  const ImageModel model = load_image_model(golden_folder("deit_teacher"));
  const Tensor<float> images = Expected("deit_teacher").file.tensors.at("images").to<float>();
  Workspace memory;
  Pass one{.memory = memory, .threads = 1}, three{.memory = memory, .threads = 3};
  const auto both = model.logits(images.view(), one);
  const auto by_three = model.logits(images.view(), three);
  EXPECT_TRUE(std::ranges::equal(both.span(), by_three.span()));
  const auto second = model.logits(std::as_const(images).view().narrow(0, 1, 1), one);
  EXPECT_TRUE(std::ranges::equal(second.span(), both.span().subspan(4)));
}

TEST(ImageModel, ChoosesMaps) {
  const ImageModel model = load_image_model(golden_folder("vit"));
  const Tensor<float> images = Expected("vit").file.tensors.at("images").to<float>();
  const auto image = std::as_const(images).view().select(0, 0);
  Workspace memory;
  Pass pass{memory};
  const auto all = model.attention_maps(image, pass);
  const std::vector<std::int64_t> layers = {1}, heads = {2}, rows = {0, 7};
  const auto some =
      model.attention_maps(image, pass, {.layers = layers, .heads = heads, .rows = rows});
  ASSERT_EQ(some.size(), 1u);
  ASSERT_EQ(some[0].shape(), (Shape{1, 2, 10}));
  for (std::int64_t k = 0; k < 10; ++k) EXPECT_EQ(some[0](0, 1, k), all[1](2, 7, k));
  const std::vector<std::int64_t> beyond = {2};
  EXPECT_THAT([&] { model.attention_maps(image, pass, {.layers = beyond}); },
              ThrowsMessage<Error>(HasSubstr("[attention_maps.layers] must be 0 .. 1")));
}

TEST(ImageModel, RefusesImagesThatDoNotFit) {
  const ImageModel model = load_image_model(golden_folder("vit"));
  Workspace memory;
  Pass pass{memory};
  const auto refused = [&](const Shape& shape, const std::string& what) {
    const Tensor<float> images(shape);
    EXPECT_THAT([&] { model.vectors(images.view(), pass); },
                ThrowsMessage<Error>(HasSubstr("[image_model.images] must " + what)));
  };
  refused({1, 1, 12, 12},
          "be [images, 3, height, width] with an image or more, got [1, 1, 12, 12]");
  refused({0, 3, 12, 12}, "be [images, 3, height, width]");
  refused({3, 12, 12}, "be [images, 3, height, width]");
  refused({1, 3, 12, 14},
          "have a height and a width that are multiples of the patch of 4 x 4 pixels, got 12 x 14");
  refused({1, 3, 0, 12}, "have a height and a width that are multiples");
  Tensor<float> images({2, 3, 12, 12});
  images(1, 2, 3, 4) = NAN;
  EXPECT_THAT([&] { model.logits(images.view(), pass); },
              ThrowsMessage<Error>(HasSubstr("[model.logits] must be of a model with classes")));
  EXPECT_THAT([&] { model.vectors(images.view(), pass); },
              ThrowsMessage<Error>(HasSubstr("must hold finite numbers, got nan in image 1")));
  EXPECT_THAT([&] { model.attention_maps(images.view(), pass); },
              ThrowsMessage<Error>(HasSubstr("[image_model.image] must be [3, height, width]")));
}

TEST(ImageModel, OfARandomSeedIsWrittenAndRead) {
  const ImageModel model({.image_height = 8,
                          .image_width = 8,
                          .patch_height = 4,
                          .patch_width = 4,
                          .channels = 2,
                          .width = 12,
                          .heads = 3,
                          .layers = 1,
                          .ffn_width = 8,
                          .classes = 3});
  const TemporaryFolder place;
  save_image_model(model, place / "new", DType::bfloat16);
  EXPECT_THAT(load_image_model(place / "new").config.labels,
              ElementsAre("LABEL_0", "LABEL_1", "LABEL_2"));
  EXPECT_THAT([] { ImageModel({.image_height = 20}); },
              ThrowsMessage<Error>(HasSubstr("[image_model.image_height] must have a height")));
  EXPECT_THAT(
      [] { ImageModel({.heads = 7}); },
      ThrowsMessage<Error>(HasSubstr("[image_model.heads] must divide width = 768, got 7")));
  EXPECT_THAT([] { ImageModel({.classes = 2, .distillation_head = true}); },
              ThrowsMessage<Error>(HasSubstr("[image_model.distillation_head] must be false")));
}

TEST(ImageFolder, IsRefusedByKeyOrTensor) {
  const auto refused = [](const ChangedModel& model, const std::string& what) {
    EXPECT_THAT([&] { load_image_model(model.write()); }, ThrowsMessage<Error>(HasSubstr(what)));
  };
  const auto with_key = [&](const std::string& key, const Json& value, const std::string& what) {
    ChangedModel model("vit_classes");
    model.config[key] = value;
    refused(model, what);
  };
  with_key("image_size", 10, "image_size must be a multiple of patch_size");
  with_key("image_size", Json::array({9, 9, 9}), "image_size must be a positive number, or a list");
  with_key(
      "image_size", 12,
      "must hold vit.embeddings.position_embeddings of shape [1, 17, 16], as config.json says, "
      "got [1, 10, 16]");
  with_key("num_channels", 3, "must hold vit.embeddings.patch_embeddings.projection.weight");
  with_key("num_attention_heads", 3, "num_attention_heads must divide hidden_size = 16, got 3");
  with_key("num_labels", 4, "num_labels must be the number of names in id2label, 3, got 4");
  with_key("id2label", Json{{"0", "a"}, {"2", "b"}, {"3", "c"}}, "got none for 1");
  with_key("id2label", Json{{"0", "a"}}, "must hold classifier.weight of shape [1, 16]");
  with_key("pooler_act", "relu", "pooler_act must be tanh, got 'relu'");
  with_key("hidden_act", "mish", "hidden_act must be relu, gelu");
  with_key("quantization_config", Json::object(), "quantization_config must be absent");
  with_key("model_type", "bert", "model_type must be vit or deit for a model of images");
  with_key("model_type", "deit",
           "must hold the tensor embeddings.patch_embeddings.projection.weight");
  with_key("num_hidden_layers", 1, "got vit.encoder.layer.1.");
  with_key("architectures", Json::array({"ViTModel"}), "got classifier.");
  with_key("hidden_size", 1 << 17, "must be of a model that can be held: [image_model.width]");

  ChangedModel lacks_norm("vit"), has_more("vit"), lacks_bias("vit");
  lacks_norm.tensors.erase("layernorm.bias");
  refused(lacks_norm, "must hold the tensor layernorm.bias");
  has_more.tensors["embeddings.norm"] = zeros({16});
  refused(has_more, "that a model of this config.json has, got embeddings.norm");
  lacks_bias.tensors.erase("pooler.dense.bias");
  refused(lacks_bias, "must hold the tensor pooler.dense.bias");
}

TEST(ImageFolder, MayHaveWhatMaskedImagesNeed) {
  ChangedModel model("vit_bare");
  model.rename_beginnings("", "vit.");
  model.config["architectures"] = Json::array({"ViTForMaskedImageModeling"});
  model.tensors["vit.embeddings.mask_token"] = zeros({1, 1, 16});
  model.tensors["decoder.0.weight"] = zeros({1, 16, 1, 1});
  expect_image_model("vit_bare", load_image_model(model.write()));
}

TEST(ImageFolder, IsNoModelOfText) {
  const std::string folder = golden_folder("vit");
  EXPECT_TRUE(is_image_model(folder));
  EXPECT_FALSE(is_image_model(golden_folder("bert")));
  EXPECT_FALSE(is_image_model(folder + "/nothing"));
  const auto refused = ThrowsMessage<Error>(
      HasSubstr("must be of a model of text, got 'vit', a model of images: `info`, "));
  EXPECT_THAT([&] { load_pretrained(folder); }, refused);
  EXPECT_THAT([&] { load_pretrained_translator(folder); }, refused);
  EXPECT_THAT([&] { open_model(folder); }, refused);
}

}  // namespace
}  // namespace sextant

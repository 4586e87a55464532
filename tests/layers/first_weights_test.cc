// Layers without drawn weights leave the two functions that make them with all weights set.
#include "sextant/layers/first_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <type_traits>

#include "sextant/core/error.h"
#include "sextant/core/safetensors.h"
#include "sextant/layers/attention_layer.h"
#include "support/peak_memory.h"
#include "support/temporary_folder.h"

namespace sextant {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

static_assert(!std::is_default_constructible_v<UnsetWeights>);

// A layer as models are: with a list of its parameters.
struct Layer : AttentionLayer<float> {
  explicit Layer(FirstWeights weights) : AttentionLayer({.width = 8, .heads = 2}, weights) {}
  Parameters<float> parameters() {
    Parameters<float> list;
    append_parameters(list, "");
    return list;
  }
};

Layer load(const std::string& path) {
  return make_loaded(
      TensorFile::open(path), [](UnsetWeights unset) { return Layer(unset); }, nullptr);
}

TEST(FirstWeights, AreNotDrawnWhereTheyAreSetLater) {
  int drawn = 0;
  const auto draw = [&drawn](NumpyRandom& random) { return ++drawn, random.uniform(); };
  (void)make_zeros([&](UnsetWeights unset) {
    EXPECT_EQ(FirstWeights(unset).tensor<float>({3}, draw).shape(), Shape{3});
    return Layer(unset);
  });
  EXPECT_EQ(drawn, 0);
  NumpyRandom random(1), same(1);
  const Tensor<float> values = FirstWeights(random).tensor<float>({2, 3}, draw);
  EXPECT_EQ(drawn, 6);
  for (const float value : values.span()) EXPECT_EQ(value, static_cast<float>(same.uniform()));
}

TEST(FirstWeights, BecomeZeros) {
  Layer zeros = make_zeros([](UnsetWeights unset) { return Layer(unset); });
  for (const auto& [name, tensor, decays] : zeros.parameters()) {
    EXPECT_THAT(tensor->span(), Each(0)) << name;
  }
}

TEST(FirstWeights, BecomeThoseOfAFileOrAnErrorWithTheName) {
  const TemporaryFolder folder;
  const std::string path = folder / "layer.safetensors";
  NumpyRandom random(1);
  Layer layer(random);
  save_parameters(path, layer.parameters());
  Layer loaded = load(path);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(std::ranges::equal(layer.parameters()[i].tensor->span(),
                                   loaded.parameters()[i].tensor->span()));
  }
  SafetensorsFile file = load_safetensors(path);
  const auto refused = [&](const std::string& message) {
    save_safetensors(path, file.tensors);
    EXPECT_THAT([&] { load(path); }, ThrowsMessage<Error>(HasSubstr(message)));
  };
  file.tensors["other"].shape = Shape{0};
  refused("must hold only tensors of the model, got other");
  file.tensors.erase("other");
  Array bias = std::move(file.tensors.at("out.bias"));
  file.tensors.erase("out.bias");
  refused("must hold the tensor out.bias");
  bias.shape = Shape{2, 4};
  file.tensors["out.bias"] = std::move(bias);
  refused("must hold out.bias of shape [8], got [2, 4]");
  file.tensors.at("out.bias").shape = Shape{8};
  file.tensors.at("out.bias").dtype = DType::int32;
  refused("must hold floating-point numbers for out.bias");
}

#ifndef SEXTANT_SANITIZED
TEST(Parameters, AreSavedAndLoadedWithoutASecondCopy) {
  const TemporaryFolder folder;
  const std::string path = folder / "p.safetensors";
  constexpr std::int64_t kBytes = 32 << 20;
  auto weight = Tensor<double>::uninitialized({kBytes / 8});
  std::ranges::fill(weight.span(), 0.5);
  const Parameters<double> parameters = {{"w", &weight, true}};
  EXPECT_LT(tests::peak_growth([&] { save_parameters(path, parameters); }), 4 << 20);
  // float32 from float64: the memory of what is made.
  EXPECT_LT(tests::peak_growth([&] {
              auto half = Tensor<float>::uninitialized({kBytes / 8});
              load_parameters(path, Parameters<float>{{"w", &half, true}});
            }),
            kBytes / 2 * 6 / 5);
}
#endif

}  // namespace
}  // namespace sextant

// Parts and layers of a model's attention; what a model gives is tested through the program.
#include "sextant/figures/model_attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json.h"
#include "sextant/core/error.h"

namespace sextant::figures {
namespace {

using ::testing::HasSubstr;

ModelAttention part(const std::string& name, std::int64_t heads, std::size_t layers) {
  ModelAttention made{name, name + " attention", {}, {"a", "b"}, {"x", "y", "z"}, ""};
  for (std::size_t layer = 0; layer < layers; ++layer) {
    Tensor<double>& weights = made.layers.emplace_back(Shape{heads, 2, 3});
    for (std::int64_t i = 0; i < weights.count(); ++i) {
      weights.data()[i] = 0.01 * static_cast<double>(i) + 0.5 * static_cast<double>(layer);
    }
  }
  return made;
}

TEST(ModelAttention, APartIsFoundByNameAndCrossAttentionWithoutOne) {
  std::vector<ModelAttention> parts;
  parts.push_back(part("encoder", 2, 1));
  parts.push_back(part("cross", 2, 1));
  EXPECT_EQ(find_part(parts, "").name, "cross");
  EXPECT_EQ(find_part(parts, "encoder").name, "encoder");
  EXPECT_EQ(find_part(std::span(parts).first(1), "").name, "encoder");  // the only one
  try {
    find_part(parts, "self");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "[figure.part] must be encoder | cross for this model, got 'self'");
  }
}

TEST(ModelAttention, MapsAreThoseOfTheLayerAndHead) {
  const ModelAttention cross = part("cross", 2, 2);
  const HeadMaps maps = maps_of(cross, 1, 1);
  EXPECT_EQ(maps.title, "cross attention, layer 1");
  EXPECT_THROW(maps_of(cross, 2), Error);
  EXPECT_EQ(maps.weights.shape(), (Shape{1, 2, 3}));
  EXPECT_EQ(maps.weights(0, 0, 0), cross.layers[1](1, 0, 0));
  const Json json = Json::parse(attention_json(cross, 1, 1));
  EXPECT_EQ(json["layer"], 1);
  EXPECT_EQ(json["head"], 1);
  EXPECT_EQ(json["weights"][0][1][2].get<double>(), cross.layers[1](1, 1, 2));
}

TEST(ModelAttention, CopyingHasNoHeads) {
  const ModelAttention copy = part("copy", 1, 1);
  EXPECT_FALSE(copy.has_heads());
  EXPECT_EQ(maps_of(copy, 0, 3).head, -1);  // --head is of the other parts of a page
  EXPECT_EQ(maps_of(copy, 0).title, "copy attention");
  EXPECT_TRUE(Json::parse(attention_json(copy, 0))["layer"].is_null());
}

}  // namespace
}  // namespace sextant::figures

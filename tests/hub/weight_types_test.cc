// Published models with matrices of 16 bits: those of every golden folder are rounded once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "hub/golden_model.h"
#include "models/rounded_weights.h"
#include "sextant/core/error.h"
#include "sextant/hub/load_pretrained.h"
#include "sextant/hub/save_pretrained.h"
#include "support/peak_memory.h"
#include "support/temporary_folder.h"

namespace sextant::hub_weight_types_test {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr WeightType kNarrow[] = {WeightType::bfloat16, WeightType::float16};

std::vector<std::string> golden_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(tests::data_folder() + "/hub/golden")) {
    if (fs::exists(entry.path() / "config.json")) names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

bool translates(const std::string& name) {
  const Json json = Json::parse_object(read_file(golden_folder(name) + "/config.json"), name);
  return json.contains("is_encoder_decoder") && json.at("is_encoder_decoder").get<bool>();
}

class NarrowFolder : public ::testing::TestWithParam<std::string> {};

TEST_P(NarrowFolder, HasTheBitsOfRoundedFloats) {
  const std::string folder = golden_folder(GetParam());
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  const std::vector<std::int64_t> tokens = {5, 9, 3, 7, 11, 2, 8, 4, 6, 10};
  const auto same = [](const Tensor<float>& a, const Tensor<float>& b) {
    return std::ranges::equal(a.span(), b.span());
  };
  for (const WeightType dtype : kNarrow) {
    if (translates(GetParam())) {
      const auto narrow = load_pretrained_translator(folder, {}, dtype);
      auto wide = load_pretrained_translator(folder);
      EXPECT_GT(round_like(narrow, wide), 4);
      EXPECT_TRUE(same(narrow.hidden_states(tokens, tokens, pass).decoder.back(),
                       wide.hidden_states(tokens, tokens, pass).decoder.back()));
    } else {
      const auto narrow = load_pretrained(folder, {}, dtype);
      auto wide = load_pretrained(folder);
      EXPECT_GT(round_like(narrow, wide), 4);
      EXPECT_TRUE(
          same(narrow.hidden_states(tokens, pass).back(), wide.hidden_states(tokens, pass).back()));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, NarrowFolder, ::testing::ValuesIn(golden_names()),
                         [](const auto& each) { return each.param; });

// Matrices of several pieces, also of rows that the file has in another order: bloom's are by head,
// of 64 rows, and pieces end inside of them.
TEST(NarrowWeights, OfLargeMatricesAreRoundedOnceToo) {
  for (const char* type : {"llama", "bloom"}) {
    SCOPED_TRACE(type);
    const TemporaryFolder place;
    TransformerConfig config = load_pretrained(golden_folder(type)).config;
    config.width = 192;
    config.heads = 3;
    config.kv_heads = 3;
    config.head_dim = 64;
    config.ffn_width = 768;
    config.vocabulary = 600;
    save_pretrained(LanguageModel<float>(config), place / "large", {.model_type = type});
    const auto narrow = load_pretrained(place / "large", {}, WeightType::bfloat16);
    auto wide = load_pretrained(place / "large");
    EXPECT_GT(round_like(narrow, wide), 4);
  }
}

TEST(NarrowWeights, AreNotSaved) {
  const TemporaryFolder folder;
  const auto model = load_pretrained(golden_folder("llama"), {}, WeightType::bfloat16);
  EXPECT_THAT([&] { save_pretrained(model, folder / "saved"); },
              ThrowsMessage<Error>(HasSubstr("[model.dtype] must be float32")));
  EXPECT_FALSE(fs::exists(folder / "saved/model.safetensors"));
}

TEST(NarrowWeights, MustBeFinite) {
  ChangedModel model("llama");
  auto& array = model.tensors.at("model.embed_tokens.weight");
  ASSERT_EQ(array.dtype, DType::float32);
  reinterpret_cast<float*>(array.bytes.data())[7] = 1e6F;
  const std::string folder = model.write();
  EXPECT_NO_THROW(load_pretrained(folder, {}, WeightType::bfloat16));
  EXPECT_THAT([&] { load_pretrained(folder, {}, WeightType::float16); },
              ThrowsMessage<Error>(HasSubstr("must hold finite numbers in float16, got others in "
                                             "model.embed_tokens.weight")));
}

#ifndef SEXTANT_SANITIZED
// The file has float32: it is rounded piece by piece, and never all there.
TEST(NarrowWeights, TakeTheMemoryOfTheirType) {
  const TemporaryFolder place;
  const std::string folder = place / "big";
  tests::peak_growth([&] {
    TransformerConfig config = load_pretrained(golden_folder("llama")).config;
    config.width = 512;
    config.heads = 8;
    config.kv_heads = 8;
    config.head_dim = 64;
    config.ffn_width = 1024;
    config.vocabulary = 12000;
    save_pretrained(LanguageModel<float>(config), folder, {.model_type = "llama"});
  });
  const auto bytes = static_cast<std::int64_t>(fs::file_size(folder + "/model.safetensors"));
  ASSERT_GT(bytes, 36 << 20);
  EXPECT_LT(tests::peak_growth([&] { (void)load_pretrained(folder); }), bytes * 6 / 5);
  EXPECT_LT(tests::peak_growth([&] { (void)load_pretrained(folder, {}, WeightType::bfloat16); }),
            bytes / 2 * 6 / 5);
}
#endif

}  // namespace sextant::hub_weight_types_test

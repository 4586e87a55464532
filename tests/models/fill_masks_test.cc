// Masks of a text and the predictions for them.
#include "sextant/models/fill_masks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/error_of.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const Tokenizer& masked_words() {
  static const Tokenizer tokenizer =
      Tokenizer::train(std::vector<std::string>{"the king of rome came"});
  return tokenizer;
}

TextModel masked_model(ModelKind kind) {
  TransformerConfig config{.kind = kind, .width = 8, .heads = 2, .layers = 1};
  return TextModel(config, masked_words());
}

std::string refusal(ModelKind kind, const std::string& text, const FillOptions& options = {}) {
  const TextModel model = masked_model(kind);
  return error_of([&] { fill_masks(model, text, options); });
}

TEST(FillMasks, GuessesEveryHoleByFallingProbability) {
  const TextModel model = masked_model(ModelKind::masked);
  const FilledText filled = fill_masks(model, "the [MASK] of[MASK]", {.top_k = 100, .threads = 1});
  ASSERT_EQ(filled.masks.size(), 2u);
  for (const auto& mask : filled.masks) {
    // Every token of the text and no other: what stands for a hidden one is no answer, and neither
    // are <pad>, <bos>, <eos> and <unk>.
    ASSERT_EQ(static_cast<std::int64_t>(mask.size()), masked_words().size() - 4);
    for (const auto& guess : mask) EXPECT_THAT(guess.token, Not(StartsWith("<")));
    double total = 0;
    for (std::size_t i = 0; i < mask.size(); ++i) {
      total += mask[i].probability;
      EXPECT_LE(mask[i].probability, mask[i > 0 ? i - 1 : 0].probability);
    }
    EXPECT_NEAR(total, 1, 1e-12);
  }
  EXPECT_EQ(filled.text, masked_words().join(std::vector<std::string>{
                             "the", filled.masks[0][0].token, "of", filled.masks[1][0].token}));
}

TEST(FillMasks, GuessesAreThoseOfTheLogits) {
  const TextModel model = masked_model(ModelKind::masked);
  const FilledText filled = fill_masks(model, "the [MASK]", {.top_k = 1, .threads = 1});
  const std::int64_t the = masked_words().encode("the")[0];
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  const Tensor<float> logits = model.logits({{the, masked_words().size()}, {0, 2}, {-1, -1}},
                                            std::vector<std::int64_t>{1}, pass);
  std::int64_t best = Tokenizer::kUnk + 1;
  for (std::int64_t i = best + 1; i < masked_words().size(); ++i) {
    if (logits(0, i) > logits(0, best)) best = i;
  }
  ASSERT_EQ(filled.masks[0].size(), 1u);
  EXPECT_EQ(filled.masks[0][0].token, masked_words().piece(best));
}

TEST(FillMasks, RefusesWhatItCannotFill) {
  EXPECT_THAT(refusal(ModelKind::masked, "the king"),
              HasSubstr("[fill_masks.text] must have [MASK] where a token is hidden"));
  EXPECT_THAT(refusal(ModelKind::masked, "the king [MASK]", {.max_tokens = 2, .where = "text"}),
              HasSubstr("[text] must be at most 2 tokens, got 3"));
  EXPECT_THAT(refusal(ModelKind::masked, "[MASK]", {.top_k = 0}), HasSubstr("top_k"));
  EXPECT_THAT(refusal(ModelKind::causal, "[MASK]"), HasSubstr("must be masked, got causal"));
}

}  // namespace
}  // namespace sextant

// Document masks: packed texts that do not see one another.
#include "sextant/schemes/indexed/document_mask.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "schemes/indexed/indexed_checks.h"

namespace sextant::document_mask_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using List = std::vector<std::int64_t>;

testing::PairFormula plain(List documents, bool causal) {
  return [=](std::int64_t, std::int64_t query, std::int64_t key) {
    const bool same =
        documents[static_cast<std::size_t>(query)] == documents[static_cast<std::size_t>(key)];
    return same && (!causal || key <= query) ? 0 : testing::kHidden;
  };
}

TEST(DocumentMask, ShowsATokenItsOwnDocument) {
  const Tensor<float> pairs = testing::pairs_of(*document_mask({}, List{7, 7, -1}), 0, 3);
  constexpr float kNot = -std::numeric_limits<float>::infinity();
  EXPECT_THAT(std::vector<float>(pairs.span().begin(), pairs.span().end()),
              ElementsAre(0, 0, kNot, 0, 0, kNot, kNot, kNot, 0));
}

TEST(DocumentMask, IsTheSameInAnyTile) {
  // In pieces: document 3 lies around document 5.
  const List documents{0, 0, 0, 3, 3, 5, 5, 5, 3, 3, 8, 9, 9, 9, 9, 9, 0};
  for (const bool causal : {false, true}) {
    testing::expect_pairs(*document_mask({.causal = causal}, documents), 1, 17,
                          plain(documents, causal));
  }
}

TEST(DocumentMask, KnowsTilesOfOneDocumentAndOfTwo) {
  const auto mask = document_mask({}, List{0, 0, 0, 1, 1, 1});
  EXPECT_EQ(testing::effect_of(*mask, 0, 3, 0, 3), TermEffect::none);
  EXPECT_EQ(testing::effect_of(*mask, 0, 3, 3, 3), TermEffect::hides);
  EXPECT_EQ(testing::effect_of(*mask, 0, 4, 0, 3), TermEffect::some);
  const auto causal = document_mask({.causal = true}, List{0, 0, 0, 1, 1, 1});
  EXPECT_EQ(testing::effect_of(*causal, 2, 1, 0, 3), TermEffect::none);
  EXPECT_EQ(testing::effect_of(*causal, 0, 3, 0, 3), TermEffect::some);
}

TEST(DocumentMask, TakesStarts) {
  EXPECT_THAT(documents_from_starts(List{0, 3}, 5), ElementsAre(0, 0, 0, 1, 1));
  EXPECT_THAT(documents_from_starts(List{0, 1, 4, 9}, 6), ElementsAre(0, 1, 1, 1, 2, 2));
  EXPECT_THAT(documents_from_starts(List{0}, 0), ElementsAre());
  // Whatever the ids of the tokens are: those of packed texts start again.
  const testing::Asked asked({0, 1, 2, 0, 1}, 2, {{"starts", "0,3"}, {"causal", "yes"}});
  testing::expect_pairs(*testing::indexed_bias_of("document_mask", asked.request), 2, 5,
                        plain({0, 0, 0, 1, 1}, true));
}

TEST(DocumentMask, NamesTheArgumentAtFault) {
  EXPECT_EQ(testing::refusal("document_mask", {{"starts", "1,3"}}),
            "[document_mask.starts] must begin with 0 and ascend");
  EXPECT_THAT(testing::refusal("document_mask", {{"starts", "0,3,3"}}), HasSubstr("ascend"));
  EXPECT_THAT(testing::refusal("document_mask", {{"starts", "0,x"}}),
              HasSubstr("[document_mask.starts]"));
  EXPECT_THAT(testing::refusal("document_mask", {{"causal", "0"}}), HasSubstr("yes or no"));
  EXPECT_THAT(error_of([] { documents_from_starts({}, 2); }), HasSubstr("starts"));
  EXPECT_THAT(error_of([] { documents_from_starts(List{0}, -1); }),
              HasSubstr("[document_mask.length]"));
}

}  // namespace
}  // namespace sextant::document_mask_test

// Attention over word vectors without learned weights.
#include "sextant/lessons/vector_attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sextant/core/error.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(VectorAttention, MixesTheVectorsByTheirProducts) {
  const WordVectors vectors = WordVectors::parse("sun 4 0\nmoon 0 4\nday 3 3\n");
  const VectorAttention result = attend_vectors({"Sun", "moon", "day"}, vectors);
  EXPECT_EQ(result.words[0], "sun");
  // Row of "day": products 12, 12, 18, divided by sqrt(2).
  const double same = std::exp((12 - 18) / std::sqrt(2.0)), sum = 1 + 2 * same;
  EXPECT_NEAR(result.weights(2, 0), same / sum, 8 * 0x1p-53);
  EXPECT_NEAR(result.weights(2, 2), 1 / sum, 8 * 0x1p-53);
  EXPECT_NEAR(result.output(2, 0), (4 * same + 3) / sum, 32 * 0x1p-53);
  // Row of "sun": products 16, 0, 12; the mean lies nearer to sun than to day.
  EXPECT_GT(result.weights(0, 0), result.weights(0, 2));
  EXPECT_EQ(result.nearest[0].word, "sun");
  EXPECT_EQ(result.nearest[2].word, "day");
  EXPECT_NEAR(result.nearest[2].similarity, 1, 0x1p-52);
}

TEST(VectorAttention, NamesAWordWithoutAVector) {
  const WordVectors vectors = WordVectors::parse("sun 4 0\nmoon 0 4\nnight 0 0\n");
  EXPECT_THAT(
      [&] {
        attend_vectors({"sun", "sky"}, vectors);
      },
      ThrowsMessage<Error>(HasSubstr("sky")));
  EXPECT_THROW(attend_vectors({}, vectors), Error);
  EXPECT_THROW(attend_vectors({"night"}, vectors), Error) << "its output is zero";
}

}  // namespace
}  // namespace sextant

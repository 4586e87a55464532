// The text of an error.
#include "sextant/core/error.h"

#include <gtest/gtest.h>

namespace sextant {
namespace {

TEST(Error, NamesTheArgumentInBracketsThenWhatWasWrong) {
  const Error error("rotary.head_dim", "must be even, got 7");
  EXPECT_STREQ(error.what(), "[rotary.head_dim] must be even, got 7");
  EXPECT_EQ(error.where(), "rotary.head_dim");
}

TEST(Error, IsAnInvalidArgument) { EXPECT_THROW(throw Error("a", "b"), std::invalid_argument); }

}  // namespace
}  // namespace sextant

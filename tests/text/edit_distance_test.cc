// Spelling distances of pairs whose distance is known, and the limits of a suggestion.
#include "text/edit_distance.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sextant::text {
namespace {

TEST(EditDistance, OfKnownPairs) {
  EXPECT_EQ(edit_distance("kitten", "sitting", 10), 3);
  EXPECT_EQ(edit_distance("sunday", "saturday", 10), 3);
  EXPECT_EQ(edit_distance("", "abc", 10), 3);
  EXPECT_EQ(edit_distance("abc", "abc", 0), 0);
  EXPECT_EQ(edit_distance("flaw", "lawn", 10), 2);
}

TEST(EditDistance, StopsAboveItsLimit) {
  EXPECT_EQ(edit_distance("kitten", "sitting", 3), 3);
  EXPECT_GT(edit_distance("kitten", "sitting", 2), 2);
  EXPECT_GT(edit_distance("a", "abcdefgh", 3), 3);
}

TEST(NearestSpelling, IsTheClosestFirstWord) {
  const std::vector<std::string> known = {"couch", "brown", "black", "block", "back"};
  EXPECT_EQ(nearest_spelling("blakc", known), std::nullopt);  // two changes in five letters
  EXPECT_EQ(nearest_spelling("blck", known), "black");
  EXPECT_EQ(nearest_spelling("browns", known), "brown");
  EXPECT_EQ(nearest_spelling("zebra", known), std::nullopt);
  EXPECT_EQ(nearest_spelling("", known), std::nullopt);
  EXPECT_EQ(nearest_spelling(std::string(10000, 'a'), known), std::nullopt);
}

}  // namespace
}  // namespace sextant::text

// The translator that ships: right on dates that were not learned, small, and what its files say.
#include "sextant/training/tasks/dates_translator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "sextant/models/translate_lines.h"
#include "sextant/training/evaluate.h"
#include "sextant/training/tasks/dates.h"
#include "support/folders.h"

namespace sextant {
namespace {

TEST(DatesTranslator, SaysTheYearsItWasTaught) {
  const DateTask options;
  EXPECT_EQ(dates_model().taught, "English dates of the years " +
                                      std::to_string(options.first_year) + " to " +
                                      std::to_string(options.last_year));
}

TEST(DatesTranslator, IsRightOnDatesThatWereNotLearned) {
  const SentencePairs unseen = date_pairs({.count = 1000, .set = DateSet::held_out, .seed = 2026});
  EXPECT_GE(exact_match(dates_translator(), unseen).share(), 0.99);
  EXPECT_EQ(translate(dates_translator(), "the third of march nineteen ninety-nine"), "1999-03-03");
  EXPECT_EQ(translate(dates_translator(), "Saturday, March 14th, 2026"), "2026-03-14");
}

TEST(DatesTranslator, IsSmall) {
  const ModelFolder model = dates_model();
  EXPECT_LT(model.weights.size(), 100'000U);
  EXPECT_EQ(model.config.kind, ModelKind::translator);
}

TEST(DatesTranslator, HasTheBitsOfItsFiles) {
  const auto files =
      TextTranslator::load(tests::data_folder() + "/../src/training/tasks/dates_translator");
  EXPECT_EQ(dates_translator().tokenizer, files.tokenizer);
  const auto expected = files.parameters(), found = dates_translator().parameters();
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].name, expected[i].name);
    EXPECT_TRUE(std::ranges::equal(found[i].tensor->span(), expected[i].tensor->span()))
        << found[i].name;
  }
}

}  // namespace
}  // namespace sextant

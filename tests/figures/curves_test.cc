// Charts of losses and of perplexities by length.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "pictures/golden.h"
#include "sextant/core/error.h"
#include "sextant/figures/extrapolation_chart.h"
#include "sextant/figures/loss_chart.h"
#include "support/error_of.h"

namespace sextant::figures {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

LossRun run(const std::string& name, bool validated) {
  LossRun made{.name = name, .curves = {}};
  made.curves.steps = {1, 2, 3};
  made.curves.loss = made.curves.mean_loss = {3, 2, 1};
  if (validated) {
    made.curves.validation_steps = {3};
    made.curves.validation_loss = {1.5};
  }
  return made;
}

TEST(LossChart, OneRunHasBothLossesInOneChart) {
  const std::string svg = loss_chart({run("a", true)}, "Loss of a").svg;
  EXPECT_THAT(svg, HasSubstr("training (moving average)"));
  EXPECT_THAT(svg, HasSubstr("held out"));
  EXPECT_THAT(loss_chart({run("a", false)}, "Loss of a").svg, Not(HasSubstr("held out")));
}

TEST(LossChart, SeveralRunsHaveAChartOfEachLoss) {
  const std::string svg = loss_chart({run("rotary", true), run("alibi", false)}, "Two").svg;
  EXPECT_THAT(svg, HasSubstr("Held out"));
  EXPECT_THAT(svg, HasSubstr("Training, moving average"));
  EXPECT_THAT(svg, HasSubstr("alibi"));
  const std::string unseen = loss_chart({run("a", false), run("b", false)}, "Two").svg;
  EXPECT_THAT(unseen, Not(HasSubstr("Held out")));
  EXPECT_THROW(loss_chart({}, "None"), Error);
  for (auto numbers : {&LossCurves::mean_loss, &LossCurves::validation_steps}) {
    LossRun shorter = run("a", true);
    (shorter.curves.*numbers).pop_back();
    EXPECT_THROW(loss_chart({shorter}, "Uneven"), Error);
    EXPECT_THROW(loss_chart({run("b", true), shorter}, "Uneven"), Error);
  }
}

TEST(LossChart, AFolderWithoutMetricsIsNoTraining) {
  EXPECT_THAT(error_of([&] { load_losses("/nowhere/at/all"); }),
              HasSubstr("must be the folder of a training run"));
}

TEST(ExtrapolationChart, HasAPanelPerWayToScore) {
  ExtrapolationTable table{.train_length = 8, .stride = 4, .lengths = {8, 16}};
  ExtrapolationRow& row = table.rows.emplace_back();
  row.label = "alibi";
  row.schemes = {{"alibi", {}}};
  row.segments = {{5.0, ""}, {std::nullopt, "the table ends"}};
  row.sliding = {{5.0, ""}, {std::nullopt, "the table ends"}};
  const auto panels = scorings(table, "word");
  ASSERT_EQ(panels.size(), 2u);
  EXPECT_EQ(panels[1].title, "Sliding windows, the last 4 scored");
  const std::string svg = extrapolation_chart(table, "word").svg;
  EXPECT_THAT(svg, HasSubstr("Perplexity per word by length"));
  EXPECT_THAT(svg, HasSubstr("every word scored"));
  EXPECT_THAT(svg, HasSubstr("trained at 8"));
  EXPECT_THAT(svg, HasSubstr("ALiBi"));
}

ExtrapolationTable table_of(std::int64_t seeds) {
  ExtrapolationTable table{.train_length = 8, .stride = 4, .seeds = seeds, .lengths = {8, 16}};
  for (const char* scheme : {"alibi", "rotary"}) {
    for (std::int64_t seed = 0; seed < seeds; ++seed) {
      ExtrapolationRow& row = table.rows.emplace_back();
      row.label = scheme;
      row.seed = static_cast<std::uint64_t>(seed);
      row.schemes = {{scheme, {}}};
      const double x = scheme[0] == 'a' ? 1 : 3;
      row.segments = row.sliding = {{x * (4.0 + static_cast<double>(seed)), ""}, {5 * x, ""}};
    }
  }
  return table;
}

TEST(ExtrapolationChart, DrawsMeansInBandsOfADeviation) {
  const std::string one = extrapolation_chart(table_of(1), "word").svg;
  EXPECT_THAT(one, Not(HasSubstr("seeds")));
  EXPECT_THAT(one, Not(HasSubstr("fill-opacity=\"0.2\"")));
  const std::string three = extrapolation_chart(table_of(3), "word").svg;
  EXPECT_THAT(three, HasSubstr(">3 seeds: mean, standard deviation</text>"));
  EXPECT_THAT(three, HasSubstr("fill-opacity=\"0.2\""));
  EXPECT_THAT(three, HasSubstr(">ALiBi</text>")) << "one line per scheme";
  EXPECT_THAT(three, Not(HasSubstr("of 3 seeds")));
}

TEST(ExtrapolationChart, NamesTheSeedsThatHaveANumber) {
  ExtrapolationTable table = table_of(3);
  table.rows[1].segments[1] = {std::nullopt, "the loss per token is nan"};
  table.rows.pop_back();
  const std::string svg = extrapolation_chart(table, "word").svg;
  EXPECT_THAT(svg, HasSubstr("ALiBi (2 of 3 seeds)"));
  EXPECT_THAT(svg, HasSubstr("rotary (2 of 3 seeds)"));
  EXPECT_THAT(svg, HasSubstr(">ALiBi</text>")) << "in sliding windows all have one";
}

TEST(ExtrapolationChart, IsThatOfTheGolden) {
  ExtrapolationTable table = table_of(3);
  table.rows[4].segments[1] = {std::nullopt, "the loss per token is nan"};
  sextant::testing::expect_golden("figures/golden/extrapolation_seeds",
                                  extrapolation_chart(table, "word"));
}

// Another version's scheme, or one of another program.
TEST(ExtrapolationChart, TakesASchemeThatIsNotKnownHereByItsNameInTheFile) {
  ExtrapolationTable table = table_of(1);
  table.rows[0].label = "wobble factor=3";
  table.rows[0].schemes = {{"wobble", {{"factor", "3"}}}};
  const std::string svg = extrapolation_chart(table, "word").svg;
  EXPECT_THAT(svg, HasSubstr(">wobble factor=3</text>"));
  EXPECT_THAT(svg, HasSubstr(">rotary</text>"));
  table.rows[0].label = "rotary + wobble";
  table.rows[0].schemes = {{"rotary", {}}, {"wobble", {}}};
  EXPECT_THAT(extrapolation_chart(table, "word").svg, HasSubstr(">rotary + wobble</text>"));
}

// A deviation that no axis can show is left out.
TEST(ExtrapolationChart, SurvivesALossThatExploded) {
  ExtrapolationTable table = table_of(2);
  table.rows[0].segments[1].perplexity = 1e300;
  table.rows[1].segments[1].perplexity = 1;
  EXPECT_THAT(extrapolation_chart(table, "word").svg, HasSubstr("ALiBi"));
}

}  // namespace
}  // namespace sextant::figures

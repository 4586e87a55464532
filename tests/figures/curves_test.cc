// Charts of losses and of perplexities by length.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "sextant/core/error.h"
#include "sextant/figures/extrapolation_chart.h"
#include "sextant/figures/loss_chart.h"

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
}

TEST(LossChart, AFolderWithoutMetricsIsNoTraining) {
  try {
    load_losses("/nowhere/at/all");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("must be the folder of a training run"));
  }
}

TEST(ExtrapolationChart, HasAPanelPerWayToScore) {
  ExtrapolationTable table;
  table.train_length = 8;
  table.stride = 4;
  table.lengths = {8, 16};
  ExtrapolationRow& row = table.rows.emplace_back();
  row.label = "alibi";
  row.positions = {{"alibi", {}}};
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

}  // namespace
}  // namespace sextant::figures

// Names of alignments and stages.
#include <gtest/gtest.h>

#include "sextant/attention/attention.h"

#include "support/error_of.h"

namespace sextant {
namespace {

TEST(AttentionNames, ReadBackAsWhatTheyName) {
  for (const Causal causal : {Causal::none, Causal::top_left, Causal::bottom_right,
                              Causal::at_offsets, Causal::at_lengths}) {
    EXPECT_EQ(parse_name<Causal>(name_of(causal), "x"), causal);
  }
  for (const Stage stage : {Stage::scores, Stage::capped, Stage::biased, Stage::probabilities}) {
    EXPECT_EQ(parse_name<Stage>(name_of(stage), "x"), stage);
  }
  EXPECT_EQ(name_of(Causal::bottom_right), "bottom_right");
  EXPECT_EQ(name_of(Stage::probabilities), "probabilities");
}

TEST(AttentionNames, UnknownOnesAreRefusedWithTheList) {
  EXPECT_EQ(error_of([&] { parse_name<Causal>("bottom-right", "--causal"); }),
            "[--causal] must be one of none, top_left, bottom_right, at_offsets, at_lengths, "
            "got 'bottom-right'; did you mean 'bottom_right'?");
  EXPECT_EQ(error_of([&] { parse_name<Stage>("", "--stage"); }),
            "[--stage] must be one of scores, capped, biased, probabilities, got ''");
  EXPECT_EQ(error_of([&] { parse_name<Causal>("\x1b[2J", "--causal"); }),
            "[--causal] must be one of none, top_left, bottom_right, at_offsets, at_lengths, "
            "got '\\x1b[2J'");
}

}  // namespace
}  // namespace sextant

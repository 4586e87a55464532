// The names of the instruction sets.
#include "sextant/kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

TEST(Targets, TheChosenOneIsAmongTheCompiled) {
  const std::string chosen = chosen_target();
  EXPECT_FALSE(chosen.empty());
  EXPECT_THAT(" " + compiled_targets() + " ", testing::HasSubstr(" " + chosen + " "));
}

}  // namespace
}  // namespace sextant

// The names of the instruction sets.
#include "sextant/kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "sextant/core/error.h"

namespace sextant {
namespace {

TEST(Targets, TheChosenOneIsAmongTheCompiled) {
  const std::string chosen = chosen_target();
  EXPECT_FALSE(chosen.empty());
  EXPECT_THAT(" " + compiled_targets() + " ", testing::HasSubstr(" " + chosen + " "));
}

TEST(Targets, ARequestForNoneOfThemIsAnError) {
  const char* before = std::getenv("SEXTANT_TARGET");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("SEXTANT_TARGET", "nonsense", 1);
  EXPECT_THAT([] { check_requested_target(); },
              testing::ThrowsMessage<Error>("[SEXTANT_TARGET] must be one of " +
                                            compiled_targets() + ", got 'nonsense'"));
  ::setenv("SEXTANT_TARGET", compiled_targets().substr(0, compiled_targets().find(' ')).c_str(), 1);
  EXPECT_NO_THROW(check_requested_target());
  ::unsetenv("SEXTANT_TARGET");
  EXPECT_NO_THROW(check_requested_target());
  if (before != nullptr) ::setenv("SEXTANT_TARGET", kept.c_str(), 1);
}

}  // namespace
}  // namespace sextant

// The report's page, without the program around it.
#include "sextant/figures/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sextant/core/error.h"
#include "sextant/figures/environment.h"

namespace sextant::figures {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ReportPage, SaysWhatItComputesAndHowItWasMade) {
  std::vector<std::string> steps;
  ReportOptions options;
  options.progress = [&steps](std::string_view step) { steps.emplace_back(step); };
  const std::string page = report_page("Dog bites man!", options);
  EXPECT_THAT(steps, ElementsAre("the text ...", "positions ...", "attention ...",
                                 "word vectors ...", "properties ..."));
  EXPECT_THAT(page, HasSubstr("same: order is invisible"));
  EXPECT_THAT(page, HasSubstr("different: order shows"));
  EXPECT_THAT(page, HasSubstr(environment().line()));
}

TEST(ReportPage, WordsMustBeOfTheText) {
  const auto error_of = [](const std::string& text, const ReportOptions& options) {
    try {
      report_page(text, options);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(error_of("Dog bites man!", {.words = {{"dog", "cat"}}}),
              HasSubstr("[report.words] must be words of the text, which 'cat' is not"));
  EXPECT_THAT(error_of("Dog bites man!", {.words = {{"dog", "Dog"}}}),
              HasSubstr("two different words"));
  EXPECT_THAT(error_of(" \n", {}), HasSubstr("[report.text]"));
}

}  // namespace
}  // namespace sextant::figures

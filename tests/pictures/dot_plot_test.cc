// Dots on a logarithmic axis.
#include "sextant/pictures/dot_plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "pictures/svg_reader.h"
#include "support/error_of.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;

// Where each dot stands, by its name; hollow dots have two circles.
struct Drawn {
  std::map<std::string, double> x, y;
  std::map<std::string, int> circles;
};

void collect(const testing::Element& element, Drawn& drawn) {
  if (element.name == "circle" && !element.children.empty()) {
    const std::string& says = element.children[0].text;
    const std::string name = says.substr(0, says.find(':'));
    drawn.x[name] = element.number("cx");
    drawn.y[name] = element.number("cy");
    ++drawn.circles[name];
  }
  for (const auto& child : element.children) collect(child, drawn);
}

Drawn drawn(const DotPlot& plot) {
  Drawn result;
  collect(testing::XmlReader(draw(plot).svg).read(), result);
  return result;
}

TEST(DotPlot, EqualFactorsAreEqualDistances) {
  const Drawn dots = drawn({.title = "T",
                            .x_label = "x",
                            .groups = {{"g", {{"small", 0.01}, {"large", 1}, {"middle", 0.1}}}}});
  EXPECT_NEAR(dots.x.at("large") - dots.x.at("middle"), dots.x.at("middle") - dots.x.at("small"),
              0.02);
  EXPECT_GT(dots.x.at("large"), dots.x.at("small"));
  EXPECT_LT(dots.y.at("large"), dots.y.at("middle"));  // sorted
  EXPECT_LT(dots.y.at("middle"), dots.y.at("small"));
}

TEST(DotPlot, WhatIsNothingIsHollowAndAtTheLeft) {
  const Drawn dots = drawn({.groups = {{"a", {{"zero", 0}, {"rounding", 1e-16}, {"some", 0.1}}},
                                       {"b", {{"other", 0.2}}}},
                            .nothing = "the same"});
  EXPECT_EQ(dots.circles.at("zero"), 2);
  EXPECT_EQ(dots.circles.at("rounding"), 2);
  EXPECT_EQ(dots.circles.at("some"), 1);
  EXPECT_EQ(dots.x.at("zero"), dots.x.at("rounding"));
  EXPECT_LT(dots.x.at("zero"), dots.x.at("some"));
  EXPECT_NO_THROW(draw(DotPlot{.groups = {{"a", {{"zero", 0}}}}}));
}

TEST(DotPlot, SaysWhatItShows) {
  const DotPlot plot{.x_label = "Difference",
                     .groups = {{"a", {{"zero", 0}, {"some", 0.1}}}, {"b", {{"other", 0.25}}}}};
  EXPECT_EQ(draw(plot).description,
            "Dot plot of 3 names in 2 groups, Difference on a logarithmic axis; the largest is "
            "0.25 of 'other'; 1 is '0'.");
}

TEST(DotPlot, RefusesWhatItCannotDraw) {
  const auto refusal_of = [](const DotPlot& plot) { return error_of([&] { draw(plot); }); };
  EXPECT_THAT(refusal_of({}), HasSubstr("[dot_plot.groups] must have at least one dot"));
  EXPECT_THAT(refusal_of({.groups = {{"a", {{"n", -1}}}}}), HasSubstr("got -1 for 'n'"));
  EXPECT_THAT(refusal_of({.groups = {{"a", {{"n", std::numeric_limits<double>::infinity()}}}}}),
              HasSubstr("finite"));
  EXPECT_THAT(refusal_of({.groups = {{"a", {{"n", 1}}}}, .least = 0}),
              HasSubstr("[dot_plot.least]"));
}

}  // namespace
}  // namespace sextant

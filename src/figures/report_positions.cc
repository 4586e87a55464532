// The report's positions: the table, and what is true of it.
#include <algorithm>
#include <cmath>

#include "figures/report_parts.h"
#include "sextant/core/numbers.h"
#include "sextant/figures/position_figures.h"
#include "sextant/lessons/similarity.h"
#include "sextant/pictures/charts.h"

namespace sextant::figures {
namespace {

Tensor<double> make(std::int64_t length, std::int64_t width,
                    Exponent exponent = Exponent::standard) {
  Sinusoidal options;
  options.length = length;
  options.width = width;
  options.exponent = exponent;
  return sinusoidal<double>(options);
}

Series profile(const char* name, std::int64_t length, std::int64_t width, Exponent exponent) {
  const Tensor<double> table = make(length, width, exponent);
  std::vector<double> cosines;
  for (std::int64_t distance = 0; distance < length; ++distance) {
    cosines.push_back(
        cosine_similarity(table.view().select(0, 0), table.view().select(0, distance)));
  }
  return counted(name, std::move(cosines));
}

// The largest |PE(p + offset) - M_offset PE(p)| over `count` positions from 0.
double offset_error(View<const double> table, View<const double> matrix, std::int64_t offset,
                    std::int64_t count) {
  const std::int64_t width = table.size(1);
  double largest = 0;
  for (std::int64_t p = 0; p < count; ++p) {
    for (std::int64_t row = 0; row < width; ++row) {
      double sum = 0;
      for (std::int64_t column = 0; column < width; ++column) {
        sum += matrix(row, column) * table(p, column);
      }
      largest = std::max(largest, std::abs(sum - table(p + offset, row)));
    }
  }
  return largest;
}

}  // namespace

void report_positions(Page& page, const ReportText& text) {
  page.section("The position of each word");
  page.paragraph(
      "Attention alone ignores the order of words. So a vector that depends only on the position "
      "is added to every word: sines and cosines of the position, with periods from 6 words to "
      "63,000. P[k, 2i] = sin(k / 10000^(2i/d)), P[k, 2i+1] = cos(k / 10000^(2i/d)).");
  const auto words = static_cast<std::int64_t>(text.tokens.size());
  const PositionTable narrow = position_table({.length = words + kBeyondWords, .width = 100});
  page.picture(plot_sinusoids(narrow, {1, 2, 20, 21, 40, 41}, text.tokens).picture,
               "Six of 100 columns over the positions; the dots are the words of the text.");
  page.picture(plot_rows(narrow, {0, 4, 10}).picture,
               "The vectors of positions 0, 4 and 10: neighbours differ in the fast columns on the "
               "left, far ones also in the slow columns on the right.");
  const PositionTable wide = position_table({.length = 100, .width = 512});
  page.picture(plot_heatmap(wide).picture, "The whole table: 100 positions, 512 columns.");
  page.picture(plot_similarity(wide).picture,
               "The similarity of any two positions. It depends only on their distance, so the "
               "picture consists of diagonal stripes.");
  page.picture(plot_distance(wide).picture,
               "The same by distance: near positions are similar, distant ones less and less.");
}

void report_offsets(Page& page, Json& numbers) {
  page.section("A fixed distance is one fixed rotation");
  page.paragraph(
      "For every offset k there is one matrix M_k with PE(p + k) = M_k PE(p) at every position p: "
      "each pair of columns is rotated by its own angle. This is why a model can learn to attend "
      "three "
      "words back. M_1 for a table of width 6:");
  Sinusoidal small;
  small.width = 6;
  const Tensor<double> matrix = offset_matrix(small, 1);
  std::vector<std::vector<std::string>> rows = {{"", "0", "1", "2", "3", "4", "5"}};
  for (std::int64_t row = 0; row < 6; ++row) {
    rows.push_back({std::to_string(row)});
    for (std::int64_t column = 0; column < 6; ++column) {
      rows.back().push_back(fixed(matrix(row, column), 6));
    }
  }
  page.table(rows);

  constexpr std::int64_t kPositions = 100;
  constexpr std::int64_t kFarthest = 1000;
  const std::int64_t width = 128;
  const Tensor<double> table = make(kPositions + kFarthest, width);
  Sinusoidal options;
  options.width = width;
  std::vector<std::vector<std::string>> errors = {{"offset k", "largest |PE(p+k) - M_k PE(p)|"}};
  double worst = 0;
  for (const std::int64_t offset : {std::int64_t{1}, std::int64_t{10}, kFarthest}) {
    const double error =
        offset_error(table.view(), offset_matrix(options, offset), offset, kPositions);
    worst = std::max(worst, error);
    errors.push_back({std::to_string(offset), significant(error, 3)});
    numbers["offset_matrix"][std::to_string(offset)] = error;
  }
  page.table(errors);
  // Each component is two products and a sum of numbers up to one, each off by a few 2^-53.
  constexpr double kRounding = 1e-15;
  page.verdict(worst <= kRounding, worst <= kRounding
                                       ? "It holds to the last digits of float64, at width 128 and "
                                         "positions 0 to 99."
                                       : "It does not hold to rounding: that is a fault of this "
                                         "program.");
}

void report_doubled_exponent(Page& page, Json& numbers) {
  page.section("A mistake in published code: the doubled exponent");
  page.paragraph(
      "A loop that steps i over 0, 2, 4, ... and still writes the exponent 2i/d doubles every "
      "exponent: 10000^(4k/d) for pair k. Half of the columns then hardly move over any ordinary "
      "length, and all positions are more similar than they should be.");
  const std::int64_t width = 512;
  const LinePanels chart{
      .title = "Similarity by distance, width 512",
      .x_label = "Distance in positions",
      .y_label = "Cosine similarity",
      .panels = {{"",
                  {profile("the formula", 100, width, Exponent::standard),
                   profile("doubled exponent", 100, width, Exponent::doubled)}}}};
  page.picture(draw(chart), "The mistake keeps far positions similar.");
  std::vector<std::vector<std::string>> rows = {{"exponent", "similarity of positions 2 and 10"}};
  for (const Exponent exponent : {Exponent::standard, Exponent::doubled}) {
    const Tensor<double> table = make(11, width, exponent);
    const double alike = cosine_similarity(table.view().select(0, 2), table.view().select(0, 10));
    rows.push_back({std::string(name_of(exponent)), shortest(alike)});
    numbers["positions_2_and_10"][std::string(name_of(exponent))] = alike;
  }
  page.table(rows);
}

void report_exactness(Page& page, Json& numbers) {
  page.section("How exact the table is");
  page.paragraph(
      "Frameworks round the angle to float32 before they take its sine. The farther the position, "
      "the larger the angle and the error: at a million the second decimal is wrong, and from 2^26 "
      "on "
      "nothing of the fast columns is left. "
      "Here every value is the true one, rounded once.");
  constexpr int kLastPower = 31;
  constexpr std::int64_t kColumns = 512;
  std::vector<std::int64_t> positions;
  for (int power = 0; power <= kLastPower; ++power) positions.push_back(std::int64_t{1} << power);
  Sinusoidal options;
  options.width = kColumns;
  const Tensor<double> truth = sinusoidal<double>(options, std::span(positions));
  LinePanels chart{.title = "Largest error of a float32 table, width 512",
                   .x_label = "Position, as a power of two",
                   .y_label = "Error, as a power of ten",
                   .panels = {{}}};
  std::vector<std::vector<std::string>> rows = {{"position", "frameworks", "exact"}};
  std::vector<std::vector<double>> errors;
  for (const Precision precision : {Precision::framework, Precision::exact}) {
    options.precision = precision;
    const Tensor<float> table = sinusoidal<float>(options, std::span(positions));
    std::vector<double> powers;
    errors.emplace_back();
    for (std::size_t i = 0; i < positions.size(); ++i) {
      double largest = 0;
      for (std::int64_t column = 0; column < kColumns; ++column) {
        largest =
            std::max(largest, std::abs(static_cast<double>(table(i, column)) - truth(i, column)));
      }
      errors.back().push_back(largest);
      powers.push_back(std::log10(std::max(largest, 1e-18)));  // below float64: drawn as such
    }
    numbers["largest_error"][std::string(name_of(precision))] = errors.back();
    chart.panels[0].series.push_back(
        counted(precision == Precision::exact ? "exact, rounded once" : "as frameworks do",
                std::move(powers)));
  }
  numbers["largest_error"]["positions"] = positions;
  page.picture(draw(chart),
               "Half a unit in the last place of float32 is 3e-8; an error of 1 is as "
               "large as the values themselves.");
  for (const std::size_t power : {10, 17, 20, 24, 31}) {
    rows.push_back({std::to_string(positions[power]), significant(errors[0][power], 3),
                    significant(errors[1][power], 3)});
  }
  page.table(rows);
}

}  // namespace sextant::figures

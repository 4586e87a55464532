// Adds folded parts: a mistake in published code, and the exactness of the tables.
#include <algorithm>
#include <cmath>

#include "figures/report/parts.h"
#include "sextant/core/numbers.h"
#include "sextant/lessons/similarity.h"
#include "sextant/pictures/charts.h"

namespace sextant::figures {
namespace {

Tensor<double> make(std::int64_t length, std::int64_t width,
                    Exponent exponent = Exponent::standard) {
  Sinusoidal options{.length = length, .width = width, .exponent = exponent};
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

}  // namespace

void report_doubled_exponent(ReportPage& page, Json& numbers) {
  page.fold("A mistake in published code: the doubled exponent");
  page.paragraph(
      "Some code counts i over 0, 2, 4, ... and still uses the exponent 2i/d. This doubles every "
      "exponent: 10000^(4k/d) for pair k. Half of the columns then hardly change over any usual "
      "length, and all positions are more similar than they should be.");
  const std::int64_t width = 512;
  const LinePanels chart{
      .title = "Similarity by distance, width 512",
      .x_label = "Distance in positions",
      .y_label = "Cosine similarity",
      .panels = {{"",
                  {profile("the formula", 100, width, Exponent::standard),
                   profile("doubled exponent", 100, width, Exponent::doubled)}}}};
  page.chart(chart, "With the mistake, far positions stay similar.");
  std::vector<std::vector<std::string>> rows = {{"exponent", "similarity of positions 2 and 10"}};
  for (const Exponent exponent : {Exponent::standard, Exponent::doubled}) {
    const Tensor<double> table = make(11, width, exponent);
    const double alike = cosine_similarity(table.view().select(0, 2), table.view().select(0, 10));
    rows.push_back({std::string(name_of(exponent)), significant(alike, 6)});
    numbers["positions_2_and_10"][std::string(name_of(exponent))] = alike;
  }
  page.table(rows);
  page.unfold();
}

void report_exactness(ReportPage& page, Json& numbers) {
  page.fold("How exact the table is");
  page.paragraph(
      "Frameworks round the angle to float32 before they compute its sine. The angle and its error "
      "grow with the position: at a million the second decimal is wrong, and from 2^26 on the fast "
      "columns have no correct digit. In Sextant every value is the exact one, rounded once.");
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
      powers.push_back(std::log10(std::max(largest, 1e-18)));  // an error of 0 is drawn as 1e-18
    }
    numbers["largest_error"][std::string(name_of(precision))] = errors.back();
    chart.panels[0].series.push_back(
        counted(precision == Precision::exact ? "exact, rounded once" : "as frameworks do",
                std::move(powers)));
  }
  numbers["largest_error"]["positions"] = positions;
  page.chart(chart,
             "Half a unit in the last place of float32 is 3e-8. An error of 1 is as large as the "
             "values themselves.");
  for (const std::size_t power : {10, 17, 20, 24, 31}) {
    rows.push_back({std::to_string(positions[power]), significant(errors[0][power], 3),
                    significant(errors[1][power], 3)});
  }
  page.table(rows);
  page.unfold();
}

void report_reference(ReportPage& page, const ReportText& text, Json& numbers) {
  page.section("Reference");
  report_schemes(page, text, numbers);
  report_similarity(page, text, numbers);
  report_doubled_exponent(page, numbers);
  report_exactness(page, numbers);
}

}  // namespace sextant::figures

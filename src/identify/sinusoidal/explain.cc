// Findings as sentences.
#include "identify/numbers.h"
#include "identify/sinusoidal/compare.h"
#include "sextant/core/numbers.h"

namespace sextant::identify {
namespace {

// By exponent and ladder.
constexpr const char* kFormulas[3][2] = {
    {"base^(-2k/width)", "base^(-k/(width/2 - 1))"},
    {"base^(-4k/width)", "base^(-2k/(width/2 - 1))"},
    {"base^(-4k/width) for sines and base^(-2(2k + 1)/width) for cosines",
     "base^(-2k/(width/2 - 1)) for sines and base^(-(2k + 1)/(width/2 - 1)) for cosines"}};
// By layout.
constexpr const char* kOrders[] = {"sines and cosines alternate", "all sines, then all cosines",
                                   "all cosines, then all sines"};

std::string mistake(Exponent exponent) {
  if (exponent == Exponent::standard) return {};
  return std::string(
             " This is the doubled-exponent mistake: the loop's index already steps over 0, 2, 4, "
             "... and is doubled again, so every exponent is twice what the paper's formula has") +
         (exponent == Exponent::doubled_unpaired
              ? ", and the cosine of a pair is one step further, so that sine and cosine no longer "
                "share a frequency"
              : "") +
         ". The formula's table has exponent = standard; keep the mistake only for a model trained "
         "with it.";
}

}  // namespace

std::string explain(const Finding& finding) {
  const Sinusoidal& options = finding.options;
  const Comparison& compared = finding.comparison;
  const auto number = [](std::int64_t n) { return std::to_string(n); };
  std::string text = "Positions " + number(options.first) + " to " +
                     number(options.first + finding.rows - 1) +
                     " of a sinusoidal table: " + kOrders[static_cast<int>(options.layout)];
  text +=
      finding.base_matters
          ? std::string(", frequencies ") +
                kFormulas[static_cast<int>(options.exponent)][static_cast<int>(options.ladder)] +
                " with base " + shortest(options.base)
          : ", one frequency only, which does not determine the base";
  if (options.scale != 1) text += ", times " + significant(options.scale, 8);
  text += ".";
  if (options.width != finding.columns) {
    text += " Only the first " + number(finding.columns) + " of " + number(options.width) +
            " columns are here.";
  }
  text += mistake(options.exponent);
  if (options.precision == Precision::framework) text += kFloat32Sentence;
  if (finding.rounded_before) {
    text += " The values had been rounded to a shorter type before they were stored in this one.";
  }
  if (!finding.sure_of_first) {
    text += " There are too few digits to be sure of the first position: others fit as well.";
  }
  if (compared.rows_empty > 0) {
    text += " " + number(compared.rows_empty) +
            (compared.rows_empty == 1 ? " row is" : " rows are") + " all zeros (padding?).";
  }
  if (compared.outside > 0) {
    text += " " + number(compared.outside) + " of " + number(compared.compared) +
            " values do not belong to it; the worst is " + significant(compared.max_deviation, 3) +
            " off in row " + number(compared.row) + ", column " + number(compared.column) + ".";
  }
  if (!finding.also.empty()) {
    const Sinusoidal& other = finding.also.front();
    text += " The same numbers come from ";
    if (other.width != options.width) text += "width " + number(other.width) + ", ";
    text += "base " + shortest(other.base) + ", ladder " + std::string(name_of(other.ladder)) +
            ", exponent " + std::string(name_of(other.exponent)) + ".";
  }
  return text;
}

}  // namespace sextant::identify

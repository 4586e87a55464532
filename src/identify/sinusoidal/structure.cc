// The structures of a width and the ways to name them.
#include "identify/sinusoidal/structure.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/interruption.h"

namespace sextant::identify {
namespace {

constexpr SinusoidalLayout kLayouts[] = {SinusoidalLayout::interleaved,
                                         SinusoidalLayout::half_split, SinusoidalLayout::cos_first};

Structure structure_of(const Sinusoidal& options, bool unpaired) {
  check_interruption();
  Structure structure{options.layout, {}, unpaired, {}};
  if (options.odd_width) structure.odd_widths.push_back(*options.odd_width);
  // Cosines may stand far from their sines: all steps first, then those of one index together.
  std::vector<Step> all;
  for (std::int64_t column = 0; column < options.width; ++column) {
    const SinusoidalColumn shown = sinusoidal_column(options, column);
    if (shown.pair < 0) continue;
    all.push_back({.index = unpaired ? 2 * shown.pair + (shown.cosine ? 1 : 0) : shown.pair});
    (shown.cosine ? all.back().cosine : all.back().sine) = column;
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Step& x, const Step& y) { return x.index < y.index; });
  for (const Step& step : all) {
    if (structure.steps.empty() || structure.steps.back().index != step.index) {
      structure.steps.push_back({.index = step.index});
    }
    if (step.cosine >= 0) structure.steps.back().cosine = step.cosine;
    if (step.sine >= 0) structure.steps.back().sine = step.sine;
  }
  return structure;
}

bool same_columns(const Structure& a, const Structure& b) {
  return std::equal(a.steps.begin(), a.steps.end(), b.steps.begin(), b.steps.end(),
                    [](const Step& x, const Step& y) {
                      return x.index == y.index && x.sine == y.sine && x.cosine == y.cosine;
                    });
}

}  // namespace

std::vector<Structure> structures_of(std::int64_t width, bool zero_column) {
  std::vector<Structure> found;
  for (const bool unpaired : {false, true}) {
    for (const SinusoidalLayout layout : kLayouts) {
      Sinusoidal options;
      options.width = width;
      options.layout = layout;
      if (width % 2 == 0) {
        if (!zero_column) found.push_back(structure_of(options, unpaired));
        continue;
      }
      for (const OddWidth rule :
           {OddWidth::extra_sine, OddWidth::zero_column, OddWidth::round_up}) {
        if ((rule == OddWidth::zero_column) != zero_column) continue;
        options.odd_width = rule;
        Structure next = structure_of(options, unpaired);
        if (rule == OddWidth::round_up && same_columns(found.back(), next)) {
          found.back().odd_widths.push_back(rule);
        } else {
          found.push_back(std::move(next));
        }
      }
    }
  }
  return found;
}

std::vector<Reading> readings_of(const Structure& structure, std::int64_t width) {
  std::vector<Reading> readings;
  const auto add = [&](Ladder ladder, Exponent exponent, std::optional<OddWidth> odd_width) {
    Reading reading;
    reading.options.width = width;
    reading.options.base = std::numbers::e;
    reading.options.layout = structure.layout;
    reading.options.ladder = ladder;
    reading.options.exponent = exponent;
    reading.options.odd_width = odd_width;
    // With base e the logarithm of a frequency is the exponent itself.
    const Tensor<double> frequencies =
        sinusoidal_frequencies(reading.options, exponent == Exponent::doubled_unpaired);
    // The last one, whose logarithm is near 1: that of the first would have lost digits.
    const std::int64_t last = frequencies.count() - 1;
    const double steps =
        static_cast<double>(exponent == Exponent::doubled_unpaired ? 2 * last + 1 : last);
    reading.exponent_per_step =
        last < 0 || steps == 0 ? 0 : -std::log(frequencies.data()[last]) / steps;
    const OddWidth usual = ladder == Ladder::d ? OddWidth::extra_sine : OddWidth::zero_column;
    const bool interleaved = structure.layout == SinusoidalLayout::interleaved;
    reading.rarity = (ladder == Ladder::d ? 0
                      : interleaved       ? 0.5
                                          : 0.25) +
                     (exponent == Exponent::doubled ? 1.05 : 0) +
                     (odd_width.value_or(usual) == usual ? 0 : 0.3);
    if (odd_width == usual) reading.options.odd_width.reset();
    readings.push_back(reading);
  };
  const auto add_exponents = [&](Ladder ladder, std::optional<OddWidth> odd_width) {
    if (structure.unpaired) return add(ladder, Exponent::doubled_unpaired, odd_width);
    add(ladder, Exponent::standard, odd_width);
    if (structure.steps.size() > 1) add(ladder, Exponent::doubled, odd_width);
  };
  for (const Ladder ladder : {Ladder::d, Ladder::d_half_minus_1}) {
    if (ladder == Ladder::d_half_minus_1 && (width < 4 || structure.steps.size() < 2)) continue;
    if (structure.odd_widths.empty()) add_exponents(ladder, std::nullopt);
    for (const OddWidth rule : structure.odd_widths) add_exponents(ladder, rule);
  }
  return readings;
}

}  // namespace sextant::identify

// The structures of a width, from the columns and frequencies that the scheme itself tells.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/threads/interruption.h"
#include "identify/sinusoidal/search.h"
#include "schemes/added/sinusoidal_columns.h"

namespace sextant::identify {
namespace {

// The first 24 steps, and 72 of the others.
std::vector<Step> steps_of(const Sinusoidal& options, bool unpaired) {
  std::vector<Step> all(static_cast<std::size_t>(options.width + 3));
  in_parts(options.width, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t column = begin; column < end; ++column) {
      const SinusoidalColumn shown = column_of(options, column);
      if (shown.pair < 0) continue;
      const std::int64_t index = unpaired ? 2 * shown.pair + (shown.cosine ? 1 : 0) : shown.pair;
      Step& step = all[static_cast<std::size_t>(index)];
      step.index = static_cast<double>(index);
      (shown.cosine ? step.cosine : step.sine) = column;
    }
  });
  std::erase_if(all, [](const Step& step) { return step.sine < 0 && step.cosine < 0; });
  constexpr std::size_t kMost = 96, kDense = 24;
  if (all.size() <= kMost) return all;
  std::vector<Step> kept(all.begin(), all.begin() + kDense);
  for (std::size_t i = 0; i < kMost - kDense; ++i) {
    kept.push_back(all[kDense + i * (all.size() - 1 - kDense) / (kMost - kDense - 1)]);
  }
  return kept;
}

bool same_columns(const Structure& a, const Structure& b) {
  return std::equal(a.steps.begin(), a.steps.end(), b.steps.begin(), b.steps.end(),
                    [](const Step& x, const Step& y) {
                      return x.index == y.index && x.sine == y.sine && x.cosine == y.cosine;
                    });
}

void add_reading(Structure& structure, Sinusoidal options) {
  const Exponent exponent = options.exponent;
  const bool d = options.ladder == Ladder::d, alone = structure.steps.size() < 2;
  if (!d && (options.width < 4 || alone)) return;
  if (exponent == Exponent::doubled && alone) return;
  check_interruption();
  // With base e the logarithm of a frequency is the exponent itself: that of the last one, as the
  // first one's would have lost digits.
  options.base = std::numbers::e;
  const bool unpaired = exponent == Exponent::doubled_unpaired;
  const Tensor<double> frequencies = sinusoidal_frequencies(options, unpaired);
  const std::int64_t last = frequencies.count() - 1;
  const auto index = static_cast<double>(unpaired ? 2 * last + 1 : last);
  const OddWidth usual = d ? OddWidth::extra_sine : OddWidth::zero_column;
  const bool interleaved = options.layout == SinusoidalLayout::interleaved;
  const double rarity = (d             ? 0
                         : interleaved ? 0.5
                                       : 0.25) +
                        (exponent == Exponent::doubled ? 1.05 : 0) +
                        (options.odd_width.value_or(usual) == usual ? 0 : 0.3);
  if (options.odd_width == usual) options.odd_width.reset();
  structure.readings.push_back(
      {options, index > 0 ? -std::log(frequencies.data()[last]) / index : 0, rarity});
}

}  // namespace

std::vector<Structure> structures_of(std::int64_t width, bool zero_column) {
  std::vector<Structure> found;
  std::vector<std::optional<OddWidth>> rules = {std::nullopt};
  if (width % 2 != 0) rules = {OddWidth::extra_sine, OddWidth::zero_column, OddWidth::round_up};
  for (const bool unpaired : {false, true}) {
    for (const SinusoidalLayout layout :
         {SinusoidalLayout::interleaved, SinusoidalLayout::half_split,
          SinusoidalLayout::cos_first}) {
      for (const std::optional<OddWidth> rule : rules) {
        if ((rule == OddWidth::zero_column) != zero_column) continue;
        Sinusoidal options{.width = width, .layout = layout, .odd_width = rule};
        Structure next{steps_of(options, unpaired), {}};
        const bool known = !found.empty() && same_columns(found.back(), next);
        Structure& structure = known ? found.back() : found.emplace_back(std::move(next));
        for (const Ladder ladder : {Ladder::d, Ladder::d_half_minus_1}) {
          options.ladder = ladder;
          for (const Exponent exponent :
               {Exponent::standard, Exponent::doubled, Exponent::doubled_unpaired}) {
            options.exponent = exponent;
            if ((exponent == Exponent::doubled_unpaired) == unpaired) {
              add_reading(structure, options);
            }
          }
        }
      }
    }
  }
  return found;
}

}  // namespace sextant::identify

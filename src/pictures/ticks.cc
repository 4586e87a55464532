// Ranges of axes and their round ticks.
#include <algorithm>
#include <cmath>
#include <utility>

#include "pictures/layout.h"
#include "pictures/text.h"
#include "sextant/core/numbers.h"

namespace sextant::pictures {
namespace {

constexpr double kShortestRange = 1e-12;  // the shortest range, as a share of its larger end
constexpr int kMaxTicks = 64;             // no chart needs more

// Whether round numbers fit between the two, and their steps into float64.
bool is_range(double low, double high) {
  const double largest = std::max(std::abs(low), std::abs(high));
  return high - low > largest * kShortestRange && high - low >= kShortest &&
         largest <= 10 * kLargest;
}

std::string tick_label(double value, double step) {
  std::string text;
  if (std::abs(value) >= 1e7 || step < 1e-5) {
    const double digits =
        std::abs(value) > step ? std::ceil(std::log10(std::abs(value) / step)) : 0;
    text = significant(value, std::clamp(static_cast<int>(digits) + 1, 1, 17));
  } else {
    // A step of 0.05 has its last digit two places after the point.
    text = fixed(value, std::max(0, static_cast<int>(-std::floor(std::log10(step) + 1e-9))));
  }
  if (text.starts_with('-')) text.replace(0, 1, "−");
  return text;
}

// Returns the smallest round step with at most `max_ticks` multiples in [low, high].
double round_step(double low, double high, int max_ticks, bool whole) {
  double power = std::pow(10.0, std::floor(std::log10((high - low) / std::max(1, max_ticks))));
  if (whole) power = std::max(power, 1.0);
  while (true) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double step = power * factor;
      if (std::floor(high / step) - std::ceil(low / step) + 1 <= max_ticks) return step;
    }
    power *= 10;
  }
}

// Returns factor * 10^decade as text. A range's margin may reach beyond what float64 holds in full.
std::string power_label(double factor, int decade) {
  constexpr int kPlain = 300;
  if (std::abs(decade) < kPlain) {
    return significant(factor * std::pow(10.0, decade), decade < 7 ? 7 : 2);
  }
  return shortest(factor) + (decade < 0 ? "e-" : "e+") + std::to_string(std::abs(decade));
}

// factor * 10^decade for every factor, of every `decades`-th decade.
Ticks log_ticks(double low, double high, const std::vector<double>& factors, int decades) {
  constexpr double kSlack = 1e-9;  // an end that is a power of ten has its tick
  Ticks ticks;
  const int first = static_cast<int>(std::floor(low / decades)) * decades;
  for (int decade = first; decade <= high + kSlack; decade += decades) {
    for (const double factor : factors) {
      const double at = decade + std::log10(factor);
      if (at < low - kSlack || at > high + kSlack) continue;
      ticks.at.push_back(at);
      ticks.labels.push_back(power_label(factor, decade));
    }
  }
  return ticks;
}

}  // namespace

Ticks round_ticks(double low, double high, int max_ticks, bool whole) {
  Ticks ticks;
  // Also when counting steps would need more digits than a double has.
  if (!is_range(low, high)) {
    ticks.at = {low};
    ticks.labels = {tick_label(low, whole ? 1 : std::max(std::abs(low) / 1000, 1e-9))};
    return ticks;
  }
  // A rounding error must not lose a tick that is exactly on an end.
  const double slack = (high - low) * 1e-9;
  low -= slack;
  high += slack;
  const double step = round_step(low, high, std::max(max_ticks, 1), whole);
  for (double k = std::ceil(low / step); k * step <= high; ++k) {
    ticks.at.push_back(k * step);
    ticks.labels.push_back(tick_label(k * step, step));
  }
  // The steps may pass over a short range: then one of the ticks of the finer step.
  if (ticks.at.empty() && max_ticks < kMaxTicks) {
    ticks = round_ticks(low, high, max_ticks + 1, whole);
    ticks.at.resize(std::min<std::size_t>(1, ticks.at.size()));
    ticks.labels.resize(ticks.at.size());
  }
  return ticks;
}

Ticks fitting_ticks(double low, double high, double pixels, bool vertical, bool whole) {
  const double pitch = !vertical ? 36 : pixels < 200 ? 24 : 32;
  for (int count = std::max(2, static_cast<int>(pixels / pitch));; --count) {
    Ticks ticks = round_ticks(low, high, count, whole);
    if (ticks.at.size() < 2) return ticks;
    const double gap = (ticks.at[1] - ticks.at[0]) / (high - low) * pixels;
    if (gap >= (vertical ? 2 * kTickSize : widest(ticks.labels, kTickSize) + 12)) return ticks;
  }
}

Ticks fitting_log_ticks(double low, double high, double pixels, bool vertical) {
  const std::vector<std::vector<double>> choices = {
      {1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 2, 3, 4, 5, 7}, {1, 2, 3, 5}, {1, 2, 5}, {1, 3}, {1}};
  Ticks ticks;
  // Ever fewer in a decade, then every second decade, every third, ..
  for (std::size_t tried = 0;; ++tried) {
    const auto& factors = choices[std::min(tried, choices.size() - 1)];
    const int decades = 1 + static_cast<int>(tried - std::min(tried, choices.size() - 1));
    ticks = log_ticks(low, high, factors, decades);
    double gap = pixels;
    for (std::size_t i = 1; i < ticks.at.size(); ++i) {
      gap = std::min(gap, (ticks.at[i] - ticks.at[i - 1]) / (high - low) * pixels);
    }
    if (gap >= (vertical ? 1.5 * kTickSize : widest(ticks.labels, kTickSize) + 12)) break;
  }
  if (ticks.at.size() >= 3 || high - low > 1) return ticks;
  ticks = fitting_ticks(std::pow(10.0, low), std::pow(10.0, high), pixels, vertical);
  for (double& at : ticks.at) at = std::log10(at);
  return ticks;
}

Range range_of(double low, double high, double margin) {
  // Also when the two differ only in their last bits, where no tick would fit between.
  if (!is_range(low, high)) {
    const double half = std::abs(low) < kShortest * 10 ? 1 : std::abs(low) * 0.1;
    return {low - half, high + half};
  }
  const double added = (high - low) * margin;
  return {low - added, high + added};
}

Range color_range(double low, double high) {
  return low < high && high - low >= kShortest ? Range{low, high} : range_of(low, low, 0);
}

}  // namespace sextant::pictures

// Positions from the fastest column, whose frequency is 1; slopes from round bases and from the
// rows. The other columns, from slow to fast, say which of them are right, and sharpen the slope.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/threads/interruption.h"
#include "identify/numbers.h"
#include "identify/sinusoidal/phase.h"
#include "identify/sinusoidal/search.h"

namespace sextant::identify {
namespace {

constexpr double kFullTurn = 2 * std::numbers::pi;
constexpr std::int64_t kNear = 1 << 17;
constexpr std::int64_t kFar = std::int64_t{1} << 31;
constexpr double kExactFit = 0x1p-50;  // relative error of the slope of an exact base
// Full fits per search: many positions that pass the first row mean that the table has too little
// to say.
constexpr int kMaxFits = 400;

struct Value {
  double order;  // sensitivity to the slope at position 1
  double row, index, theta;
  double value, error;  // divided by the scale
  bool cosine;
};

// The evidence of values for a supposed position, and the refined slope.
struct Verdict {
  Frequency slope;
  double tested = 0, wrong = 0;
  double information = 0;  // about the slope
  double misfit = 0;       // sum of squares over expected errors
  bool stuck = false;      // the slope is too uncertain to predict the faster columns
};

// Gauss-Newton over the values that the slope predicts well enough, which are more with each pass.
// Their `theta` belong to the supposed slope.
Verdict sharpen(const std::vector<Value>& values, double first, double angle_noise,
                double allowed_wrong, double supposed, Frequency slope) {
  const bool exact = slope.error <= kExactFit * (1 + std::fabs(slope.value));
  Verdict verdict;
  while (true) {
    verdict = {slope};
    double pull = 0;
    for (const Value& v : values) {
      const double theta = slope.value == supposed ? v.theta : std::exp(slope.value * v.index);
      const double angle = (first + v.row) * theta;
      const double spread = std::fabs(angle * v.index) * slope.error;
      if (spread > 0.4) {
        verdict.stuck = true;
        continue;
      }
      const double sine = std::sin(angle), cosine = std::cos(angle);
      const double derivative = v.cosine ? -sine : cosine;
      const double turn = angle_noise * std::fabs(angle);
      const double bend = 0.5 * spread * (spread + v.index * slope.error);
      const double error = v.error + turn * (std::fabs(derivative) + turn) + bend + 1e-100;
      if (error > kUseless) continue;
      const double miss = v.value - (v.cosine ? cosine : sine);
      verdict.tested += 1;
      if (!(std::fabs(miss) <= 3 * error + 4 * spread * std::fabs(derivative))) {
        verdict.wrong += 1;
        if (verdict.wrong > allowed_wrong + verdict.tested / 16) return verdict;
        continue;
      }
      const double by_slope = derivative * angle * v.index, weight = 1 / (error * error);
      verdict.information += by_slope * by_slope * weight;
      verdict.misfit += miss * miss * weight;
      pull += by_slope * miss * weight;
    }
    if (exact) return verdict;
    const double total = verdict.information + 1 / (slope.error * slope.error);
    const double error = 1 / std::sqrt(total);
    verdict.slope = {slope.value + pull / total, error};
    if (!(error < 0.7 * slope.error)) return verdict;
    slope = verdict.slope;
  }
}

class FrequencySearch {
 public:
  FrequencySearch(View<const double> table, const Structure& structure, const Noise& noise,
                  const Wave& wave)
      : table_(table), structure_(structure), noise_(noise), wave_(wave) {
    const std::int64_t length = table.size(0), parts = std::min<std::int64_t>(length - 1, 11);
    for (std::int64_t i = 0; i <= parts; ++i) {
      rows_.push_back(parts == 0 ? 0 : i * (length - 1) / parts);
    }
    for (std::int64_t row = 1; row < length; row *= 2) rows_.push_back(row);
    std::sort(rows_.begin(), rows_.end());
    rows_.erase(std::unique(rows_.begin(), rows_.end()), rows_.end());
    std::erase_if(rows_, [&](std::int64_t row) { return is_empty_row(table, row); });
  }

  // Those of the first `rows` rows that a search looks at, from the least to the most sensitive.
  std::vector<Value> values(double scale, double slope, std::size_t rows) const {
    std::vector<Value> found;
    for (std::size_t i = 0; i < std::min(rows, rows_.size()); ++i) {
      for (const Step& step : structure_.steps) {
        const double theta = std::exp(slope * step.index);
        const auto add = [&](std::int64_t column, bool cosine) {
          if (column < 0) return;
          const double x = table_(rows_[i], column);
          const double error = noise_.storage * std::max(std::fabs(x), noise_.tiny) +
                               wave_.scale_error / wave_.scale * std::fabs(x);
          found.push_back({theta * step.index, static_cast<double>(rows_[i]), step.index, theta,
                           x / scale, error / std::fabs(scale), cosine});
        };
        add(step.sine, false);
        add(step.cosine, true);
      }
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Value& a, const Value& b) { return a.order < b.order; });
    return found;
  }

  // The slope that the slowest sine gives a position: sin(position e^(slope index)) = x.
  std::optional<Frequency> slope_at(std::int64_t first, double scale) const {
    const double p = static_cast<double>(first + rows_[0]);
    for (auto step = structure_.steps.rbegin(); step != structure_.steps.rend(); ++step) {
      if (step->sine < 0 || step->index == 0) continue;
      const double x = table_(rows_[0], step->sine) / scale;
      const double theta = std::asin(std::clamp(x, -1.0, 1.0)) / p;
      if (!(theta > 0) || std::fabs(x) > 0.5) return std::nullopt;
      const double error = noise_.storage + wave_.scale_error / wave_.scale + noise_.angle;
      return Frequency{std::log(theta) / step->index, 2 * error / step->index};
    }
    return std::nullopt;
  }

  std::optional<Fit> fit(std::int64_t first, double scale, const Frequency& prior) const {
    check_interruption();
    const auto p = static_cast<double>(first);
    const std::vector<Value> all = values(scale, prior.value, rows_.size());
    const auto good = [&](const Verdict& v) {
      return !v.stuck && v.wrong <= 2 + v.tested / 16 && v.tested > 2 * v.wrong &&
             v.tested >= kUseless * static_cast<double>(all.size());
    };
    Verdict verdict = sharpen(all, p, noise_.angle, 2, prior.value, prior);
    if (!good(verdict)) return std::nullopt;
    // Once more, free to leave a slope that was only supposed.
    if (verdict.information > 0) {
      const double free = 4 / std::sqrt(verdict.information);
      verdict = sharpen(all, p, noise_.angle, 2, prior.value,
                        {verdict.slope.value, std::max(verdict.slope.error, free)});
      if (!good(verdict)) return std::nullopt;
    }
    const double inflation = std::max(1.0, verdict.misfit / std::max(1.0, verdict.tested));
    const Frequency slope{verdict.slope.value,
                          std::sqrt(inflation / (verdict.information + 1e-300))};
    const double last = structure_.steps.back().index;
    Fit found{first, scale, wave_.scale_error, slope, true, true};
    found.slope_known =
        last == 0 || slope.error < 0.02 * std::max(std::fabs(slope.value), 1 / last);
    // Bits of the phases of row 0 that the range of positions allows.
    double bits = first == 0 ? 1e300 : -std::log2(2 * std::fabs(p) + 1) - 4;
    const double error = std::min(prior.error, slope.error);
    for (const Step& step : structure_.steps) {
      const double angle =
          std::fabs(p + static_cast<double>(rows_[0])) * std::exp(slope.value * step.index);
      const double unit = noise_.storage + angle * (noise_.angle + step.index * error);
      bits += std::max(0.0, std::log2(std::min(kFullTurn, 2 * angle) / (4 * unit + 1e-16)));
    }
    found.sure_of_first = bits >= 0;
    return found;
  }

 private:
  View<const double> table_;
  const Structure& structure_;
  Noise noise_;
  Wave wave_;
  std::vector<std::int64_t> rows_;
};

// Slopes worth trying: those of round bases near the measured one, the measured one, and those of
// well-known bases when the rows do not tell.
std::vector<Frequency> slopes_to_try(const Structure& structure,
                                     const std::optional<Frequency>& measured) {
  if (structure.steps.size() < 2) return {{0, 0}};  // one frequency: nothing to try
  std::vector<Frequency> slopes;
  const auto add = [&](double value) {
    const auto same = [&](const Frequency& s) {
      return std::fabs(s.value - value) <= 4 * kExactFit * std::fabs(value);
    };
    if (std::none_of(slopes.begin(), slopes.end(), same)) {
      slopes.push_back({value, kExactFit * std::fabs(value) / 4});
    }
  };
  bool vague = !measured;
  for (const Reading& reading : structure.readings) {
    if (!measured) break;
    const double log_base = -measured->value / reading.exponent;
    const double tolerance = 2 * measured->error / reading.exponent + 1e-13;
    if (!(tolerance < 0.3) || !(std::fabs(log_base) < 41)) {
      vague = true;
      continue;
    }
    const Round round = roundest_base(std::exp(log_base), tolerance);
    if (round.roughness <= 9) add(-reading.exponent * std::log(round.value));
  }
  for (const Reading& reading : structure.readings) {
    if (!vague) break;
    for (const double base : {1e4, 5e5, 1e6, 1e3, 1e2, 1e5, 10.0}) {
      add(-reading.exponent * std::log(base));
    }
  }
  if (measured) slopes.push_back(*measured);
  return slopes;
}

}  // namespace

bool search_fits(View<const double> table, const Structure& structure, const Noise& noise, bool far,
                 double& looks_left, const std::function<bool(const Fit&)>& accept) {
  const std::optional<Wave> wave = measure_wave(table, structure, noise);
  if (!wave) return false;
  const FrequencySearch search(table, structure, noise, *wave);
  const auto measured = measure_slope(table, structure, *wave, noise);
  // Where the rows do not tell, each position has its own slope as well.
  std::vector<std::optional<Frequency>> slopes;
  for (const Frequency& slope : slopes_to_try(structure, measured)) slopes.emplace_back(slope);
  if (!measured && !far) slopes.emplace_back();
  std::optional<Fit> unsure;
  int fits = 0;
  for (const double scale : {wave->scale, -wave->scale}) {
    const double phase = wave->phase + (scale < 0 ? std::numbers::pi : 0);
    for (const auto& tried : slopes) {
      std::vector<Value> row;
      if (tried) row = search.values(scale, tried->value, 1);
      // An uncertain slope may take a part of the work alone.
      const bool exact = tried && tried->error <= kExactFit * (1 + std::fabs(tried->value));
      const double until = exact ? 0 : std::max(0.0, looks_left - kMaxLooks / 20);
      bool found = false;
      // Returns true to end the search: with a fit, or without when there is too much to do.
      const auto visit = [&](std::int64_t first) {
        if (looks_left <= until || fits > kMaxFits) return true;
        check_interruption();
        const auto slope = tried ? tried : search.slope_at(first, scale);
        looks_left -= 1;
        if (!slope) return false;
        if (!tried) row = search.values(scale, slope->value, 1);
        const auto p = static_cast<double>(first);
        const Verdict verdict = sharpen(row, p, noise.angle, 1, slope->value, *slope);
        looks_left -= verdict.tested;
        // Far away a slope that is not sharp enough says nothing.
        if (verdict.wrong > 1 + verdict.tested / 16 || (far && verdict.stuck)) return false;
        ++fits;
        const std::optional<Fit> fit = search.fit(first, scale, *slope);
        if (!fit) return false;
        if (fit->sure_of_first) return found = accept(*fit);
        if (!unsure || std::abs(fit->first) < std::abs(unsure->first)) unsure = fit;
        return false;
      };
      for (const std::int64_t direction : {1, -1}) {
        each_position(static_cast<double>(direction) * phase, wave->phase_error,
                      far             ? kNear + 1
                      : direction > 0 ? 0
                                      : 1,
                      far ? kFar : kNear, [&](std::int64_t n) { return visit(direction * n); });
        if (found) return true;
      }
    }
  }
  return unsure && accept(*unsure);
}

}  // namespace sextant::identify

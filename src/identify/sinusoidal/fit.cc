// Positions by vernier: the fastest column (frequency 1) says which whole numbers row 0 can be, the
// slow columns which of them it is.
#include "identify/sinusoidal/fit.h"
#include "identify/numbers.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <utility>

#include "core/interruption.h"
#include "identify/sinusoidal/filter.h"
#include "identify/sinusoidal/phase.h"

namespace sextant::identify {
namespace {

constexpr std::int64_t kNear = 1 << 17;
constexpr std::int64_t kFar = std::int64_t{1} << 31;
// Full fits per search: many positions that pass the first row mean that the table has too little
// to say.
constexpr int kMaxFits = 400;
// Values looked at for a ratio that has to be sharpened on the way.
constexpr double kMaxValuesOfEstimate = 1e6;

class Search {
 public:
  Search(View<const double> table, const Structure& structure, const Noise& noise, const Wave& wave)
      : table_(table), noise_(noise), wave_(wave), steps_(thinned(structure.steps, 96)) {
    rows_ = rows_to_look_at(table, 12);
    for (std::int64_t row = 1; row < table.size(0); row *= 2) {
      if (!is_empty_row(table, row)) rows_.push_back(row);
    }
    std::sort(rows_.begin(), rows_.end());
    rows_.erase(std::unique(rows_.begin(), rows_.end()), rows_.end());
  }

  // The first row's values, from the least to the most sensitive.
  std::vector<Value> first_row(double scale, double log_ratio) const {
    std::vector<Value> row = values(scale, log_ratio, true);
    std::stable_sort(row.begin(), row.end(),
                     [](const Value& a, const Value& b) { return a.order < b.order; });
    return row;
  }

  std::vector<Value> values(double scale, double log_ratio, bool one_row) const {
    std::vector<Value> found;
    for (const std::int64_t row : rows_) {
      for (const Step& step : steps_) {
        const double index = static_cast<double>(step.index);
        const auto add = [&](std::int64_t column, bool cosine) {
          if (column < 0) return;
          const double x = table_(row, column);
          const double error =
              (noise_.of(x) + wave_.scale_tolerance / wave_.scale * std::abs(x)) / std::abs(scale);
          const double theta = std::exp(log_ratio * index);
          found.push_back(
              {theta * index, static_cast<double>(row), index, theta, x / scale, error, cosine});
        };
        add(step.sine, false);
        add(step.cosine, true);
      }
      if (one_row) break;
    }
    return found;
  }

  // What is known about the position itself: bits of the phases of row 0 within what the range of
  // positions allows.
  double bits(double first, const Ratio& ratio, double row) const {
    double total = 0;
    for (const Step& step : steps_) {
      const double theta = std::exp(ratio.log * static_cast<double>(step.index));
      const double angle = (first + row) * theta;
      const double unit =
          noise_.storage + noise_.angle * std::abs(angle) +
          std::abs(angle) * static_cast<double>(step.index) * std::sqrt(ratio.variance);
      const double range = std::min(2 * std::numbers::pi, 2 * std::abs(angle));
      total += std::max(0.0, std::log2(range / (4 * unit + 1e-16)));
    }
    return total;
  }

  std::optional<Fit> fit(std::int64_t first, double scale, const Ratio& prior) const {
    const double p = static_cast<double>(first);
    std::vector<Value> all = values(scale, prior.log, false);
    for (Value& v : all) v.order *= std::abs(p + v.row);
    std::stable_sort(all.begin(), all.end(),
                     [](const Value& a, const Value& b) { return a.order < b.order; });
    Ratio ratio = prior;
    Verdict verdict = filter(all, p, noise_.angle, 2, ratio);
    if (!good(verdict, all.size())) return std::nullopt;
    // A second pass, linearised where the first one ended, and free to leave a ratio that was only
    // supposed.
    ratio.variance = std::max(prior.variance, 16 / (verdict.information + 1e-300));
    if (verdict.information == 0) ratio.variance = prior.variance;
    verdict = filter(all, p, noise_.angle, 2, ratio);
    if (!good(verdict, all.size())) return std::nullopt;
    Fit found;
    found.first = first;
    found.scale = scale;
    found.scale_tolerance = wave_.scale_tolerance;
    const double inflation = std::max(1.0, verdict.misfit / std::max(1.0, verdict.tested));
    const double deviation = std::sqrt(inflation / (verdict.information + 1e-300));
    found.ratio = {ratio.log, deviation * deviation};
    const double last = static_cast<double>(steps_.back().index);
    found.ratio_known = last == 0 || deviation < 0.02 * std::max(std::abs(ratio.log), 1 / last);
    const double needed = first == 0 ? 0 : std::log2(2 * std::abs(p) + 1) + 4;
    found.sure_of_first = bits(p, Ratio{ratio.log, std::min(prior.variance, deviation * deviation)},
                               static_cast<double>(rows_.front())) >= needed;
    return found;
  }

  // The ratio that a slow sine gives once its position is supposed: sin(position theta) = x.
  std::optional<Ratio> from_slow_sine(std::int64_t first, double scale, std::int64_t row) const {
    const double position = static_cast<double>(first + row);
    for (auto step = steps_.rbegin(); step != steps_.rend() && step->index > 0 && position != 0;
         ++step) {
      if (step->sine < 0) continue;
      const double x = table_(row, step->sine) / scale;
      const double theta = std::asin(std::clamp(x, -1.0, 1.0)) / position;
      const double error = (noise_.of(x * scale) + wave_.scale_tolerance) / std::abs(scale * x);
      if (!(theta > 0) || std::abs(x) > 0.5 || !(error < 0.1)) return std::nullopt;
      const double index = static_cast<double>(step->index);
      const double deviation = 2 * (error + noise_.angle) / index;
      return Ratio{std::log(theta) / index, deviation * deviation};
    }
    return std::nullopt;
  }

  const std::vector<Step>& steps() const noexcept { return steps_; }
  const std::vector<std::int64_t>& rows() const noexcept { return rows_; }

 private:
  static bool good(const Verdict& verdict, std::size_t values) {
    return !verdict.stuck && verdict.wrong <= 2 + verdict.tested / 16 &&
           verdict.tested > 2 * verdict.wrong &&
           verdict.tested >= kLeastUseful * static_cast<double>(values);
  }

  View<const double> table_;
  Noise noise_;
  Wave wave_;
  std::vector<Step> steps_;
  std::vector<std::int64_t> rows_;
};

// Ratios worth trying: those of round bases near the estimates, the estimates, and those of
// well-known bases when the rows do not tell.
std::vector<Ratio> ratios_to_try(const Structure& structure, std::int64_t width,
                                 const std::vector<Ratio>& estimates) {
  std::vector<Ratio> ratios;
  const auto add = [&](double log) {
    const auto same = [&](const Ratio& r) {
      return std::abs(r.log - log) <= 4 * kExact * std::abs(log);
    };
    if (std::none_of(ratios.begin(), ratios.end(), same)) {
      ratios.push_back({log, kExact * kExact * log * log * 0x1p-4});
    }
  };
  const std::vector<Reading> readings = readings_of(structure, width);
  bool vague = estimates.empty();
  for (const Ratio& estimate : estimates) {
    for (const Reading& reading : readings) {
      const double base = std::exp(-estimate.log / reading.exponent_per_step);
      const double tolerance = 4 * std::sqrt(estimate.variance) / reading.exponent_per_step + 1e-13;
      if (!(tolerance < 0.3) || !(base > 1e-3) || !(base < 1e18)) {
        vague = true;
        continue;
      }
      const Round round = roundest_base(base, tolerance);
      if (round.roughness <= 7) add(-reading.exponent_per_step * std::log(round.value));
    }
  }
  if (vague) {
    for (const Reading& reading : readings) {
      for (const double base : {1e4, 5e5, 1e6, 1e3, 1e2, 1e5, 10.0}) {
        add(-reading.exponent_per_step * std::log(base));
      }
    }
  }
  ratios.insert(ratios.end(), estimates.begin(), estimates.end());
  return ratios;
}

}  // namespace

bool search_fits(View<const double> table, const Structure& structure, const Noise& noise, bool far,
                 double& values_left, const std::function<bool(const Fit&)>& accept) {
  const std::optional<Wave> wave = measure_wave(table, structure, noise);
  if (!wave) return false;
  const Search search(table, structure, noise, *wave);
  const bool one_frequency = search.steps().back().index == 0;
  std::vector<Ratio> ratios{{0, 0}};  // with one frequency alone there is nothing to try
  if (!one_frequency) {
    ratios =
        ratios_to_try(structure, table.size(1), estimate_ratios(table, structure, *wave, noise));
  }
  std::optional<Fit> unsure;
  double until = 0;  // the part of the work that the next ratio may not touch
  int fits = 0;
  // Cheap, and passed by few: the first row alone. Far away a ratio that is not sharp enough says
  // nothing.
  const auto passes = [&](const std::vector<Value>& row, std::int64_t first, Ratio ratio) {
    check_interruption();
    const Verdict verdict = filter(row, static_cast<double>(first), noise.angle, 1, ratio);
    values_left -= 1 + verdict.tested;
    return verdict.wrong <= 1 + verdict.tested / 16 && !(far && verdict.stuck);
  };
  const auto offer = [&](std::int64_t first, double scale, const Ratio& prior) {
    if (++fits > kMaxFits) return false;
    check_interruption();
    const std::optional<Fit> fit = search.fit(first, scale, prior);
    if (!fit) return false;
    if (fit->sure_of_first) return accept(*fit);
    if (!unsure || std::abs(fit->first) < std::abs(unsure->first)) unsure = fit;
    return false;
  };
  // Calls visit(position) for all positions whose phase fits, by distance, until it returns true.
  const auto each_position = [&](double sign, const auto& visit) {
    const double phase = wave->phase + (sign < 0 ? std::numbers::pi : 0);
    for (const std::int64_t direction : {1, -1}) {
      PhaseVisits visits(direction > 0 ? phase : -phase, wave->phase_tolerance,
                         far ? kNear + 1 : 0);
      for (std::int64_t n = visits.next(); n <= (far ? kFar : kNear); n = visits.next()) {
        if (values_left <= until || fits > kMaxFits) return false;
        if ((n != 0 || direction > 0) && visit(direction * n)) return true;
      }
    }
    return false;
  };
  for (const double sign : {1.0, -1.0}) {
    const double scale = sign * wave->scale;
    for (const Ratio& prior : ratios) {
      const std::vector<Value> row = search.first_row(scale, prior.log);
      until = is_exact(prior) ? 0 : std::max(0.0, values_left - kMaxValuesOfEstimate);
      if (each_position(sign, [&](std::int64_t first) {
            return passes(row, first, prior) && offer(first, scale, prior);
          })) {
        return true;
      }
    }
    if (far || one_frequency) continue;
    until = std::max(0.0, values_left - kMaxValuesOfEstimate);
    if (each_position(sign, [&](std::int64_t first) {
          for (const std::int64_t row : {search.rows().front(), search.rows().back()}) {
            const std::optional<Ratio> slow = search.from_slow_sine(first, scale, row);
            if (slow && passes(search.first_row(scale, slow->log), first, *slow) &&
                offer(first, scale, *slow)) {
              return true;
            }
          }
          return false;
        })) {
      return true;
    }
  }
  return unsure && accept(*unsure);
}

}  // namespace sextant::identify

// Frequencies from the turn between rows: z[r + lag] / z[r] = e^(i lag theta) for a pair z = cos +
// i sin, and x[r] + x[r + 2 lag] = 2 cos(lag theta) x[r + lag] for a lone sine or cosine. A coarse
// search over the ratio at lag 1, then longer lags, each refining what the last one knew (a scalar
// Kalman filter from slow to fast columns).
#include "identify/sinusoidal/ratio.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "core/interruption.h"

namespace sextant::identify {
namespace {

using Complex = std::complex<double>;

Complex pair_at(View<const double> table, const Step& step, std::int64_t row) {
  return {table(row, step.cosine), table(row, step.sine)};
}

bool is_pair(const Step& step) { return step.sine >= 0 && step.cosine >= 0; }

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The wave of frequency 1 from a sine alone: least squares for its values at phase and a quarter
// turn on.
std::optional<Wave> measure_lone_sine(View<const double> table, std::int64_t column,
                                      const std::vector<std::int64_t>& rows, const Noise& noise) {
  double ss = 0, sc = 0, cc = 0, xs = 0, xc = 0, xx = 0;
  for (const std::int64_t row : rows) {
    const double s = std::sin(static_cast<double>(row));
    const double c = std::cos(static_cast<double>(row));
    const double x = table(row, column);
    ss += s * s, sc += s * c, cc += c * c, xs += x * s, xc += x * c, xx += x * x;
  }
  const double determinant = ss * cc - sc * sc;
  if (determinant < 1e-3) return std::nullopt;
  const double along_sine = (xs * cc - xc * sc) / determinant;  // scale cos(phase)
  const double along_cosine = (xc * ss - xs * sc) / determinant;
  const double scale = std::hypot(along_sine, along_cosine);
  const double left = xx - along_sine * xs - along_cosine * xc;
  if (!(scale > 0) || left > 0.01 * scale * scale * static_cast<double>(rows.size()))
    return std::nullopt;
  const double error = 4 * (noise.storage + 0x1p-50) * std::sqrt((ss + cc) / determinant);
  return Wave{scale, error * scale, std::atan2(along_cosine, along_sine), error};
}

// One step at one lag: the turn (of a pair) or its cosine (of a lone column).
struct Turn {
  double index;
  bool pair;
  double value;  // radians, or a cosine
  double sigma;
};

std::vector<Turn> turns_at(View<const double> table, const std::vector<Step>& steps, double scale,
                           const Noise& noise, std::int64_t lag) {
  check_interruption();
  std::vector<Turn> turns;
  const std::int64_t length = table.size(0);
  const double sigma = 1.5 * (noise.storage + 0x1p-50);
  const auto starts = [&](std::int64_t reach) {
    std::vector<std::int64_t> rows;
    for (std::int64_t i = 0; i < 16 && reach < length; ++i) {
      const std::int64_t row = i * (length - 1 - reach) / 15;
      if (rows.empty() || row != rows.back()) rows.push_back(row);
    }
    return rows;
  };
  const std::vector<std::int64_t> near = starts(lag), far = starts(2 * lag);
  for (const Step& step : steps) {
    if (step.index == 0) continue;
    const double index = static_cast<double>(step.index);
    if (is_pair(step) && !near.empty()) {
      Complex sum = 0;
      for (const std::int64_t row : near) {
        sum += std::conj(pair_at(table, step, row)) * pair_at(table, step, row + lag);
      }
      const double n = static_cast<double>(near.size());
      if (std::abs(sum) < 0.5 * scale * scale * n) continue;
      turns.push_back({index, true, std::arg(sum), sigma / std::sqrt(n)});
    } else if (!is_pair(step) && !far.empty()) {
      const std::int64_t column = std::max(step.sine, step.cosine);
      double product = 0, square = 0;
      for (const std::int64_t row : far) {
        const double middle = table(row + lag, column);
        product += middle * (table(row, column) + table(row + 2 * lag, column));
        square += 2 * middle * middle;
      }
      const double n = static_cast<double>(far.size());
      if (square < 0.1 * scale * scale * n) continue;
      turns.push_back({index, false, std::clamp(product / square, -1.0, 1.0),
                       sigma * scale * std::sqrt(3 / square)});
    }
  }
  return turns;
}

double misfit(const std::vector<Turn>& turns, double log_ratio) {
  check_interruption();
  double sum = 0;
  for (const Turn& turn : turns) {
    const double theta = std::exp(log_ratio * turn.index);
    const double miss =
        turn.pair ? 2 * std::sin((turn.value - theta) / 2) : turn.value - std::cos(theta);
    sum += std::min(miss * miss, 1.0);
  }
  return sum;
}

// Returns the share of turns that did not fit.
double refine(const std::vector<Turn>& turns, double lag, double inflation, Ratio& ratio) {
  std::vector<std::pair<double, const Turn*>> order;
  for (const Turn& turn : turns) {
    order.emplace_back(lag * std::exp(ratio.log * turn.index) * turn.index, &turn);
  }
  std::sort(order.begin(), order.end());
  double used = 0, wrong = 0;
  for (const auto& [_, turn] : order) {
    const double angle = lag * std::exp(ratio.log * turn->index);
    double slope = angle * turn->index;
    double miss = turn->value - std::cos(angle);
    if (turn->pair) {
      miss = std::remainder(turn->value - angle, 2 * std::numbers::pi);
    } else {
      slope *= -std::sin(angle);
    }
    const double spread = slope * slope * ratio.variance;
    // Beyond the straight line: the ratio enters through an exponential, a lone column through a
    // cosine.
    const double bend =
        0.5 * angle * turn->index * ratio.variance * turn->index * (turn->pair ? 1 : 1 + angle);
    const double error = turn->sigma * turn->sigma * inflation * inflation + bend * bend;
    if (angle * turn->index * std::sqrt(ratio.variance) > 0.7) break;
    used += 1;
    if (miss * miss > 36 * (spread + error)) {
      wrong += 1;
      continue;
    }
    const double gain = ratio.variance * slope / (spread + error);
    ratio.log += gain * miss;
    ratio.variance *= error / (spread + error);
  }
  return used > 0 ? wrong / used : 0;
}

}  // namespace

double Noise::of(double value) const noexcept { return storage * std::max(std::abs(value), tiny); }

bool is_empty_row(View<const double> table, std::int64_t row) {
  std::int64_t column = 0;
  while (column < table.size(1) && table(row, column) == 0) ++column;
  return column == table.size(1);
}

std::vector<std::int64_t> rows_to_look_at(View<const double> table, std::int64_t count) {
  std::vector<std::int64_t> rows;
  const std::int64_t length = table.size(0);
  const std::int64_t parts = std::max<std::int64_t>(1, std::min(length, count) - 1);
  for (std::int64_t i = 0; i <= parts && i < length; ++i) {
    const std::int64_t row = i * (length - 1) / parts;
    if (!is_empty_row(table, row)) rows.push_back(row);
  }
  return rows;
}

std::vector<Step> thinned(const std::vector<Step>& steps, std::size_t count) {
  if (steps.size() <= count) return steps;
  const std::size_t dense = count / 4;
  std::vector<Step> kept(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(dense));
  for (std::size_t i = 0; i < count - dense; ++i) {
    kept.push_back(steps[dense + i * (steps.size() - 1 - dense) / (count - dense - 1)]);
  }
  return kept;
}

std::optional<Wave> measure_wave(View<const double> table, const Structure& structure,
                                 const Noise& noise) {
  const std::vector<std::int64_t> rows = rows_to_look_at(table, 64);
  if (rows.empty()) return std::nullopt;
  const Step& fastest = structure.steps.front();
  if (!is_pair(fastest)) return measure_lone_sine(table, fastest.sine, rows, noise);

  std::vector<double> sizes;
  for (const std::int64_t row : rows) sizes.push_back(std::abs(pair_at(table, fastest, row)));
  const double size = median(sizes);
  if (!(size > 0)) return std::nullopt;
  // Turned back by their rows, all pairs of frequency 1 are the same; a few may be damaged.
  std::vector<double> real, imaginary;
  for (const std::int64_t row : rows) {
    const Complex back = pair_at(table, fastest, row) * std::polar(1.0, -static_cast<double>(row));
    real.push_back(back.real());
    imaginary.push_back(back.imag());
  }
  const Complex middle(median(real), median(imaginary));
  Complex sum = 0;
  double n = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Complex back(real[i], imaginary[i]);
    if (std::abs(back - middle) > 0.1 * size) continue;
    sum += back;
    n += 1;
  }
  if (n < 0.8 * static_cast<double>(rows.size()) && n + 1 < static_cast<double>(rows.size()))
    return std::nullopt;

  double total = 0, pairs = 0, outside = 0;
  for (const Step& step : thinned(structure.steps, 64)) {
    if (!is_pair(step)) continue;
    for (const std::int64_t row : rows) {
      const double length = std::abs(pair_at(table, step, row));
      if (std::abs(length - size) > 0.05 * size) {
        outside += 1;
      } else {
        total += length - size;  // small numbers, small rounding errors
        pairs += 1;
      }
    }
  }
  if (outside > 0.1 * pairs || pairs == 0 || n == 0) return std::nullopt;
  const double unit = noise.storage + 0x1p-50;
  return Wave{size + total / pairs, size * unit * (0x1p-8 + 2 / std::sqrt(pairs)), std::arg(sum),
              2 * unit / std::sqrt(n)};
}

std::vector<Ratio> estimate_ratios(View<const double> table, const Structure& structure,
                                   const Wave& wave, const Noise& noise) {
  const std::vector<Step> steps = thinned(structure.steps, 96);
  const std::vector<Turn> turns = turns_at(table, steps, wave.scale, noise, 1);
  if (turns.empty()) return {};
  // Grid: the largest slope of an angle over log(-log ratio) is 1/e, so that steps of 0.2 keep
  // angles within 0.08 rad; rising frequencies (bases below 1) up to 20 rad per row.
  struct Point {
    double log, spacing, misfit;
  };
  std::vector<Point> grid;
  for (double t = std::log(60.0); t > std::log(1e-7); t -= 0.2)
    grid.push_back({-std::exp(t), 0.2 * std::exp(t), 0});
  const double last = turns.back().index;
  for (int i = 1; i <= 240; ++i) grid.push_back({0.0125 * i / last, 0.0125 / last, 0});
  for (Point& point : grid) point.misfit = misfit(turns, point.log);
  std::vector<Point> valleys;
  for (std::size_t i = 0; i < grid.size(); ++i) {
    const bool left = i == 0 || grid[i].misfit <= grid[i - 1].misfit;
    const bool right = i + 1 == grid.size() || grid[i].misfit < grid[i + 1].misfit;
    if (left && right) valleys.push_back(grid[i]);
  }
  if (valleys.empty()) return {};  // misfits that are NaN: values out of range
  std::stable_sort(valleys.begin(), valleys.end(),
                   [](const Point& a, const Point& b) { return a.misfit < b.misfit; });
  const double enough = 4 * valleys.front().misfit + 0.02 * static_cast<double>(turns.size());

  std::vector<Ratio> ratios;
  for (std::size_t i = 0; i < valleys.size() && i < 6 && valleys[i].misfit <= enough; ++i) {
    for (double inflation = 1; inflation <= 512; inflation *= 8) {
      Ratio ratio{valleys[i].log, valleys[i].spacing * valleys[i].spacing};
      double wrong = refine(turns, 1, inflation, ratio);
      for (std::int64_t lag = 2; lag < table.size(0) && wrong < 0.2; lag *= 2) {
        wrong = refine(turns_at(table, steps, wave.scale, noise, lag), static_cast<double>(lag),
                       inflation, ratio);
      }
      if (wrong >= 0.2) continue;
      ratio.variance *= 4;
      ratios.push_back(ratio);
      break;
    }
  }
  std::stable_partition(ratios.begin(), ratios.end(), [](const Ratio& r) { return r.log < 0; });
  return ratios;
}

}  // namespace sextant::identify

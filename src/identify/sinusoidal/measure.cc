// Measures rows without a supposed base or position: the wave of frequency 1, and how fast
// frequencies fall.
#include <algorithm>
#include <cmath>
#include <complex>

#include "core/threads/interruption.h"
#include "identify/sinusoidal/search.h"

namespace sextant::identify {
namespace {

using Complex = std::complex<double>;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The wave of frequency 1 at a row, as scale e^(i phase): of a pair, or of a lone sine and its next
// row.
std::optional<Complex> wave_at(View<const double> table, const Step& step, std::int64_t row) {
  if (step.is_pair()) return Complex(table(row, step.cosine), table(row, step.sine));
  if (row + 1 >= table.size(0)) return std::nullopt;
  const double now = table(row, step.sine), next = table(row + 1, step.sine);
  return Complex((next - now * std::cos(1.0)) / std::sin(1.0), now);
}

}  // namespace

bool is_empty_row(View<const double> table, std::int64_t row) {
  std::int64_t column = 0;
  while (column < table.size(1) && table(row, column) == 0) ++column;
  return column == table.size(1);
}

std::optional<Wave> measure_wave(View<const double> table, const Structure& structure,
                                 const Noise& noise) {
  check_interruption();
  const std::int64_t length = table.size(0), count = std::min<std::int64_t>(length, 64);
  // Turned back by their rows, all waves of frequency 1 are the same; a few may be damaged.
  std::vector<std::int64_t> rows;
  std::vector<double> real, imaginary;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t row = count == 1 ? 0 : i * (length - 1) / (count - 1);
    const auto wave = wave_at(table, structure.steps[0], row);
    if (!wave || is_empty_row(table, row)) continue;
    const Complex back = *wave * std::polar(1.0, -static_cast<double>(row));
    rows.push_back(row);
    real.push_back(back.real());
    imaginary.push_back(back.imag());
  }
  if (rows.empty()) return std::nullopt;
  const Complex middle(median(real), median(imaginary));
  const double size = std::abs(middle);
  Complex sum = 0;
  double n = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Complex back(real[i], imaginary[i]);
    if (!(std::abs(back - middle) <= 0.1 * size)) continue;
    sum += back;
    n += 1;
  }
  const auto all = static_cast<double>(rows.size());
  if (!(size > 0) || !std::isfinite(size) || (n < 0.8 * all && n + 1 < all)) return std::nullopt;
  const double unit = noise.storage + 0x1p-50;
  Wave wave{size, size * 8 * unit / std::sqrt(n), std::arg(sum),
            (structure.steps[0].is_pair() ? 2 : 4) * unit / std::sqrt(n)};
  if (!structure.steps[0].is_pair()) {
    wave.scale = std::abs(sum) / n;
    return wave;
  }
  double total = 0, pairs = 0, outside = 0;
  for (const Step& step : structure.steps) {
    if (!step.is_pair()) continue;
    for (const std::int64_t row : rows) {
      const double off = std::hypot(table(row, step.cosine), table(row, step.sine)) - size;
      const bool fits = std::fabs(off) <= 0.05 * size;
      total += fits ? off : 0;
      (fits ? pairs : outside) += 1;
    }
  }
  if (outside > 0.1 * pairs) return std::nullopt;
  return Wave{size + total / pairs, size * unit * (0x1p-8 + 2 / std::sqrt(pairs)), wave.phase,
              wave.phase_error};
}

std::optional<Frequency> measure_slope(View<const double> table, const Structure& structure,
                                       const Wave& wave, const Noise& noise) {
  std::vector<Frequency> slopes;  // of single steps, sharpest first
  for (const Step& step : structure.steps) {
    if (step.index == 0) continue;
    const auto f = measure(table, step, wave.scale, noise.storage + 0x1p-50);
    if (!f || !(f->error < 0.2 * f->value)) continue;
    slopes.push_back({std::log(f->value) / step.index, 1.5 * f->error / f->value / step.index});
  }
  std::sort(slopes.begin(), slopes.end(),
            [](const Frequency& a, const Frequency& b) { return a.error < b.error; });
  // Errors of rounded angles grow with positions, which are not known here.
  for (double inflation = 1; inflation <= 512; inflation *= 8) {
    for (std::size_t seed = 0; seed < slopes.size() && seed < 8; ++seed) {
      double agreeing = 0, weight = 0, weighted = 0;
      for (const Frequency& s : slopes) {
        const double error = inflation * (s.error + slopes[seed].error);
        if (std::fabs(s.value - slopes[seed].value) > 4 * error) continue;
        agreeing += 1;
        weight += 1 / (s.error * s.error);
        weighted += (s.value - slopes[seed].value) / (s.error * s.error);
      }
      if (agreeing < 0.8 * static_cast<double>(slopes.size())) continue;
      return Frequency{slopes[seed].value + weighted / weight, 2 * inflation / std::sqrt(weight)};
    }
  }
  return std::nullopt;
}

}  // namespace sextant::identify

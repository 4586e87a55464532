// A pair turns by the angle of conj(z[n]) z[n + lag], with z = cos + i sin; of a lone function
// x[n] + x[n + 2 lag] = 2 cos(lag frequency) x[n + lag].
#include "identify/waves.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "core/threads/interruption.h"

namespace sextant::identify {
namespace {

constexpr double kWholeTurn = 2 * std::numbers::pi;

// The turn over `lag` rows of up to 16 places, its sign open for a lone function.
std::optional<Frequency> turn_over(View<const double> table, const Step& step, std::int64_t lag,
                                   double amplitude, double noise) {
  const std::int64_t starts = table.size(0) - (step.is_pair() ? lag : 2 * lag);
  const std::int64_t count = std::min<std::int64_t>(starts, 16);
  if (count < 1) return std::nullopt;
  std::complex<double> sum = 0;
  double product = 0, square = 0;
  const std::int64_t column = std::max(step.sine, step.cosine);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t n = count == 1 ? 0 : i * (starts - 1) / (count - 1);
    if (step.is_pair()) {
      const std::complex<double> a(table(n, step.cosine), table(n, step.sine));
      const std::complex<double> b(table(n + lag, step.cosine), table(n + lag, step.sine));
      sum += std::conj(a) * b;
      square += std::abs(a) * std::abs(b);
    } else {
      const double middle = table(n + lag, column);
      product += middle * (table(n, column) + table(n + 2 * lag, column));
      square += 2 * middle * middle;
    }
  }
  if (!(square > 0) || !std::isfinite(square)) return std::nullopt;
  if (step.is_pair()) {
    if (!(std::abs(sum) > 0.5 * square)) return std::nullopt;
    return Frequency{std::arg(sum), 2 * noise / std::sqrt(static_cast<double>(count))};
  }
  const double error = noise * amplitude * std::sqrt(3 / square);
  if (!(error < 0.5)) return std::nullopt;
  const double turn = std::acos(std::clamp(product / square, -1.0, 1.0));
  return Frequency{turn, error / std::max(std::sin(turn), std::sqrt(error))};
}

}  // namespace

std::optional<Frequency> measure(View<const double> table, const Step& step, double amplitude,
                                 double noise) {
  check_interruption();
  std::optional<Frequency> found;
  for (std::int64_t lag = 1; lag < table.size(0); lag *= 2) {
    const auto turn = turn_over(table, step, lag, amplitude, noise);
    const auto n = static_cast<double>(lag);
    if (!turn) continue;
    if (!found) {
      if (lag > 1) break;
      // Frequencies are positive: a backward turn is almost a whole turn.
      found = {turn->value < -4 * turn->error ? turn->value + kWholeTurn : std::fabs(turn->value),
               turn->error};
      continue;
    }
    if (n * found->error > 1) break;  // the number of whole turns is not known
    double off = std::remainder(turn->value - n * found->value, kWholeTurn);
    if (!step.is_pair()) {
      const double other = std::remainder(-turn->value - n * found->value, kWholeTurn);
      if (std::fabs(other) < std::fabs(off)) off = other;
    }
    if (std::fabs(off) > 6 * (n * found->error + turn->error)) break;
    if (turn->error / n < found->error) found = {found->value + off / n, turn->error / n};
  }
  return found;
}

FrequencyFit refine(View<const double> table, const Step& step, double amplitude, double first,
                    double noise, double frequency) {
  const std::int64_t rows = std::min(table.size(0), kMaxFitRows);
  double best = frequency, residual = HUGE_VAL, error = HUGE_VAL, next = frequency;
  for (int pass = 0; pass < 30; ++pass) {
    check_interruption();
    double square = 0, gradient = 0, information = 0;
    std::int64_t count = 0;
    for (std::int64_t n = 0; n < rows; ++n) {
      const double p = first + static_cast<double>(n);
      const double c = amplitude * std::cos(p * next), s = amplitude * std::sin(p * next);
      const auto add = [&](std::int64_t column, double made, double derivative) {
        if (column < 0) return;
        const double off = table(n, column) - made;
        square += off * off;
        gradient += derivative * off;
        information += derivative * derivative;
        ++count;
      };
      add(step.cosine, c, -p * s);
      add(step.sine, s, p * c);
    }
    const double left = std::sqrt(square / static_cast<double>(count));
    if (!(left < residual)) {  // too far: half way back
      next = (next + best) / 2;
      if (std::fabs(next - best) <= 1e-3 * error) break;
      continue;
    }
    best = next, residual = left;
    error = information > 0 ? noise * std::fabs(amplitude) / std::sqrt(information) : HUGE_VAL;
    if (!(information > 0)) break;
    next = best + gradient / information;
  }
  return {{std::fabs(best), error}, residual};
}

}  // namespace sextant::identify

// A grid of frequencies, then Gauss-Newton steps.
#include "identify/rotation/pair_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "core/interruption.h"

namespace sextant::identify {
namespace {

class PairFit {
 public:
  PairFit(const Rotations& given, std::int64_t pair, double noise)
      : given_(given), pair_(pair), noise_(noise), rows_(std::min(given.rows(), kMaxRows)) {}

  // The best of a grid over the first rows, then Gauss-Newton steps over ever more of them: what a
  // window confirms predicts the next one. A known phase or amplitude stays.
  PairWave fit(std::optional<double> phase, std::optional<double> amplitude) const {
    std::int64_t window = std::min<std::int64_t>(rows_, 8);
    PairWave best;
    best.residual = HUGE_VAL;
    const int phases = phase ? 1 : 32;
    for (int t = 0; t < 160; ++t) {
      // Even steps where the window sees turns, powers below.
      const double frequency =
          t < 80 ? std::numbers::pi * (t + 0.5) / 80 : 0.04 * std::pow(10.0, -(t - 80) / 10.0);
      for (int p = 0; p < phases; ++p) {
        PairWave wave{phase.value_or(2 * std::numbers::pi * p / phases), frequency,
                      amplitude.value_or(1)};
        wave.residual = residual(wave, window);
        if (wave.residual < best.residual) best = wave;
      }
    }
    while (true) {
      improve(best, window, !phase, !amplitude);
      if (window == rows_) break;
      window = std::min(rows_, 2 * window);
    }
    // A cosine of a negative frequency is one of the positive frequency from the opposite phase; a
    // sine, from the supplement.
    if (best.frequency < 0 && given_.has_cosines() != given_.has_sines()) {
      best.frequency = -best.frequency;
      best.phase = given_.has_cosines() ? -best.phase : std::numbers::pi - best.phase;
      if (phase) best.phase = *phase;
      best.residual = residual(best, rows_);
    }
    return best;
  }

  // Steps from a wave whose phase is first * frequency.
  void refine(PairWave& wave, std::int64_t first) const {
    improve(wave, rows_, false, false, first);
  }

 private:
  double residual(const PairWave& wave, std::int64_t rows) const {
    check_interruption();
    double sum = 0;
    for (std::int64_t n = 0; n < rows; ++n) {
      const double angle = wave.phase + static_cast<double>(n) * wave.frequency;
      if (given_.has_cosines()) {
        const double off = wave.amplitude * std::cos(angle) - given_.cosines(n, pair_);
        sum += off * off;
      }
      if (given_.has_sines()) {
        const double off = wave.amplitude * std::sin(angle) - given_.sines(n, pair_);
        sum += off * off;
      }
    }
    return std::sqrt(sum / static_cast<double>(rows));
  }

  // Gauss-Newton steps, shortened where they would make it worse. With `first`, the phase is first
  // * frequency and moves with it.
  void improve(PairWave& wave, std::int64_t rows, bool free_phase, bool free_amplitude,
               std::int64_t first = 0) const {
    wave.residual = residual(wave, rows);
    for (int count = 0; count < 20; ++count) {
      const std::array<double, 3> step = step_of(wave, rows, free_phase, free_amplitude, first);
      bool better = false;
      for (double share = 1; share > 1e-7 && !better; share /= 4) {
        PairWave next = wave;
        next.frequency += share * step[0];
        if (free_phase) next.phase += share * step[1];
        if (first != 0) next.phase = static_cast<double>(first) * next.frequency;
        if (free_amplitude) next.amplitude += share * step[2];
        next.residual = residual(next, rows);
        better = next.residual < wave.residual;
        if (better) wave = next;
      }
      if (!better) return;
    }
  }

  // The step to the least squares of the tangent; also notes the errors.
  std::array<double, 3> step_of(PairWave& wave, std::int64_t rows, bool free_phase,
                                bool free_amplitude, std::int64_t first) const {
    std::array<std::array<double, 4>, 3> system{};  // normal equations: frequency, phase, amplitude
    const auto add = [&](double of_angle, double of_amplitude, double n, double off) {
      const double row[3] = {of_angle * (n + static_cast<double>(first)), free_phase ? of_angle : 0,
                             free_amplitude ? of_amplitude : 0};
      for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) system[i][k] += row[i] * row[k];
        system[i][3] += row[i] * off;
      }
    };
    for (std::int64_t n = 0; n < rows; ++n) {
      const double angle = wave.phase + static_cast<double>(n) * wave.frequency;
      const double c = std::cos(angle);
      const double s = std::sin(angle);
      if (given_.has_cosines()) {
        add(-wave.amplitude * s, c, static_cast<double>(n),
            given_.cosines(n, pair_) - wave.amplitude * c);
      }
      if (given_.has_sines()) {
        add(wave.amplitude * c, s, static_cast<double>(n),
            given_.sines(n, pair_) - wave.amplitude * s);
      }
    }
    if (!free_phase) system[1][1] = 1;
    if (!free_amplitude) system[2][2] = 1;
    for (int i = 0; i < 3; ++i) system[i][i] *= 1 + 1e-14;
    // The inverse's diagonal gives the errors; three unknowns: cofactors.
    const auto minor = [&](int i, int k) {
      const int a = (i + 1) % 3, b = (i + 2) % 3, c = (k + 1) % 3, d = (k + 2) % 3;
      return system[a][c] * system[b][d] - system[a][d] * system[b][c];
    };
    const double determinant =
        system[0][0] * minor(0, 0) + system[0][1] * minor(0, 1) + system[0][2] * minor(0, 2);
    if (!(std::fabs(determinant) > 0)) {
      wave.frequency_error = HUGE_VAL;
      return {};
    }
    std::array<double, 3> step{};
    for (int i = 0; i < 3; ++i) {
      for (int k = 0; k < 3; ++k) step[i] += minor(k, i) * system[k][3] / determinant;
    }
    const double most = 1.0 / static_cast<double>(rows + std::abs(first));
    step[0] = std::clamp(step[0], -most, most);
    step[1] = std::clamp(step[1], -0.5, 0.5);
    if (!std::isfinite(step[0] + step[1] + step[2])) return {};
    wave.frequency_error = noise_ * std::sqrt(std::fabs(minor(0, 0) / determinant));
    wave.phase_error = free_phase ? noise_ * std::sqrt(std::fabs(minor(1, 1) / determinant)) : 0;
    return step;
  }

  const Rotations& given_;
  std::int64_t pair_;
  double noise_;
  std::int64_t rows_;
};

}  // namespace

PairWave fit_pair(const Rotations& given, std::int64_t pair, double noise,
                  std::optional<double> phase, std::optional<double> amplitude) {
  return PairFit(given, pair, noise).fit(phase, amplitude);
}

void refine_pair(const Rotations& given, std::int64_t pair, double noise, std::int64_t first,
                 PairWave& wave) {
  PairFit(given, pair, noise).refine(wave, first);
}

}  // namespace sextant::identify

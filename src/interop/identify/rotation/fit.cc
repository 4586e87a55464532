// The frequency of each pair of a cache of rotations, its first position and its amplitude.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "interop/identify/rotation/rotations.h"
#include "sextant/core/dtype.h"

namespace sextant::interop {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;
constexpr std::int64_t kMostRows = 1024;                   // that a fit looks at
constexpr std::int64_t kFarthest = std::int64_t{1} << 20;  // first position of a slice
constexpr double kFrequencyNoise = 2e-7;  // relative: a float32 power and its rounding

// One pair: amplitude * cos or sin of phase + row * frequency.
struct Wave {
  double phase = 0;
  double frequency = 0;
  double amplitude = 1;
  double phase_error = 0;
  double frequency_error = 0;
  double residual = 0;  // root of the mean square
};

class PairFit {
 public:
  PairFit(const Rotations& given, std::int64_t pair, double noise)
      : given_(given), pair_(pair), noise_(noise), rows_(std::min(given.rows(), kMostRows)) {}

  // The best of a grid over the first rows, then Gauss-Newton steps over ever more of them: what a
  // window confirms predicts the next one. A known phase or amplitude stays.
  Wave fit(std::optional<double> phase, std::optional<double> amplitude) const {
    std::int64_t window = std::min<std::int64_t>(rows_, 8);
    Wave best;
    best.residual = HUGE_VAL;
    const int phases = phase ? 1 : 32;
    for (int t = 0; t < 160; ++t) {
      // Even steps where the window sees turns, powers below.
      const double frequency =
          t < 80 ? std::numbers::pi * (t + 0.5) / 80 : 0.04 * std::pow(10.0, -(t - 80) / 10.0);
      for (int p = 0; p < phases; ++p) {
        Wave wave{phase.value_or(kTurn * p / phases), frequency, amplitude.value_or(1)};
        wave.residual = residual(wave, window);
        if (wave.residual < best.residual) best = wave;
      }
    }
    while (true) {
      improve(best, window, !phase, !amplitude);
      if (window == rows_) break;
      window = std::min(rows_, 2 * window);
    }
    // A cosine that turns back is one that turns forth from the opposite phase; a sine, from the
    // supplement.
    if (best.frequency < 0 && given_.has_cosines() != given_.has_sines()) {
      best.frequency = -best.frequency;
      best.phase = given_.has_cosines() ? -best.phase : std::numbers::pi - best.phase;
      if (phase) best.phase = *phase;
      best.residual = residual(best, rows_);
    }
    return best;
  }

  // Steps from a wave whose phase is first * frequency.
  void refine(Wave& wave, std::int64_t first) const { improve(wave, rows_, false, false, first); }

 private:
  double residual(const Wave& wave, std::int64_t rows) const {
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
  void improve(Wave& wave, std::int64_t rows, bool free_phase, bool free_amplitude,
               std::int64_t first = 0) const {
    wave.residual = residual(wave, rows);
    for (int count = 0; count < 20; ++count) {
      const std::array<double, 3> step = step_of(wave, rows, free_phase, free_amplitude, first);
      bool better = false;
      for (double share = 1; share > 1e-7 && !better; share /= 4) {
        Wave next = wave;
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
  std::array<double, 3> step_of(Wave& wave, std::int64_t rows, bool free_phase, bool free_amplitude,
                                std::int64_t first) const {
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

bool starts_at_zero(const Rotations& given, double noise) {
  for (std::int64_t k = 0; k < given.pairs(); ++k) {
    if (given.has_sines() && given.sines(0, k) != 0) return false;
    if (given.has_cosines() && std::fabs(given.cosines(0, k) - given.cosines(0, 0)) >
                                   noise * std::fabs(given.cosines(0, 0)))
      return false;
  }
  // Cosines that are all one could stand at any position; those of position 0 are followed by
  // others.
  return !given.has_cosines() || given.cosines(0, 0) > 0;
}

// The first positions that the phases of the first pairs allow, nearest to 0 first.
std::vector<std::int64_t> firsts_of(const std::vector<Wave>& waves) {
  std::vector<std::int64_t> result;
  const auto fits = [&](std::int64_t first) {
    return std::all_of(waves.begin(), waves.end(), [&](const Wave& wave) {
      const double p = static_cast<double>(first);
      const double off = std::remainder(p * wave.frequency - wave.phase, kTurn);
      return std::fabs(off) <=
             6 * wave.phase_error +
                 std::fabs(p) * (6 * wave.frequency_error + kFrequencyNoise * wave.frequency);
    });
  };
  for (std::int64_t p = 0; p <= kFarthest && result.size() < 16; ++p) {
    if (fits(p)) result.push_back(p);
    if (p != 0 && fits(-p)) result.push_back(-p);
  }
  return result;
}

float rounded_as(double value, double unit) {
  if (unit <= 0x1p-24) return static_cast<float>(value);
  if (unit <= 0x1p-11) return static_cast<float>(static_cast<double>(float16(value)));
  return static_cast<float>(static_cast<double>(bfloat16(value)));
}

double stored_as(double value, double unit) {
  return unit <= 0x1p-53 ? value : static_cast<double>(rounded_as(value, unit));
}

}  // namespace

std::optional<RotationFit> fit_rotations(const Rotations& given, double unit_roundoff) {
  if (given.rows() < 6 || given.rows() * given.pairs() < 16) return std::nullopt;
  const double noise = 2 * std::max(unit_roundoff, 0x1p-44);
  const auto rows = static_cast<double>(std::min(given.rows(), kMostRows));
  const auto wrong = [&](const Wave& wave) {
    return wave.residual > 4 * noise * wave.amplitude +
                               (std::fabs(wave.phase) + rows * wave.frequency) * kFrequencyNoise;
  };
  const bool from_zero = starts_at_zero(given, noise);
  const std::optional<double> phase = from_zero ? std::optional(0.0) : std::nullopt;
  // The first pair turns fast enough to show its amplitude.
  const Wave lead = PairFit(given, 0, noise).fit(phase, std::nullopt);
  if (!(lead.amplitude > 0.01 && lead.amplitude < 100) || lead.frequency * rows < 1 ||
      wrong(lead)) {
    return std::nullopt;
  }
  double amplitude = lead.amplitude;
  if (from_zero && given.has_cosines()) amplitude = given.cosines(0, 0);
  if (std::fabs(amplitude - 1) < 4 * noise + 1e-6) amplitude = 1;
  std::vector<Wave> waves;
  std::vector<std::int64_t> firsts = {0};
  for (std::int64_t k = 0; k < given.pairs(); ++k) {
    waves.push_back(PairFit(given, k, noise).fit(phase, amplitude));
    if (wrong(waves.back())) return std::nullopt;
    if (from_zero || k != std::min<std::int64_t>(given.pairs(), 4) - 1) continue;
    firsts = firsts_of(waves);
    if (firsts.empty()) return std::nullopt;
  }
  for (const std::int64_t first : firsts) {
    RotationFit fit{first, amplitude, {}, {}};
    bool good = true;
    for (std::int64_t k = 0; k < given.pairs() && good; ++k) {
      Wave wave = waves[static_cast<std::size_t>(k)];
      if (!from_zero) {
        // The whole turns of the phase that the rough frequency leaves.
        const double p = static_cast<double>(first);
        const double turns = std::round((p * wave.frequency - wave.phase) / kTurn);
        if (first != 0) wave.frequency = std::fabs((wave.phase + kTurn * turns) / p);
        wave.phase = p * wave.frequency;
        PairFit(given, k, noise).refine(wave, first);
        good = !wrong(wave);
      }
      fit.frequencies.push_back(wave.frequency);
      fit.errors.push_back(6 * wave.frequency_error + kFrequencyNoise * wave.frequency);
    }
    if (good) return fit;
  }
  return std::nullopt;
}

RotationCheck check_rotations(const Rotations& given, const RotationFit& fit,
                              double unit_roundoff) {
  RotationCheck best;
  best.max_deviation = HUGE_VAL;
  // Exact angles; angles in float32; and those of frequencies that a float32 power made.
  for (int arithmetic = 0; arithmetic < 3; ++arithmetic) {
    RotationCheck check{true, arithmetic > 0, 0};
    for (std::int64_t k = 0; k < given.pairs(); ++k) {
      const double frequency = fit.frequencies[static_cast<std::size_t>(k)];
      for (std::int64_t n = 0; n < given.rows(); ++n) {
        const double p = static_cast<double>(fit.first + n);
        const double angle =
            arithmetic == 1
                ? static_cast<double>(static_cast<float>(p) * static_cast<float>(frequency))
                : p * frequency;
        const auto compare = [&](double value, double made) {
          const double off = std::fabs(value - stored_as(made, unit_roundoff));
          double allowed = 2 * unit_roundoff * std::fabs(made) + 0x1p-48 * std::fabs(p) + 1e-300;
          if (unit_roundoff > 0x1p-20 && unit_roundoff <= 0x1p-11) allowed += 0x1p-24;
          if (arithmetic > 0) allowed += 0x1p-23 * fit.amplitude;
          if (arithmetic == 2) allowed += std::fabs(angle) * kFrequencyNoise * fit.amplitude;
          check.fits = check.fits && off <= allowed;
          check.max_deviation = std::max(check.max_deviation, off);
        };
        if (given.has_cosines()) compare(given.cosines(n, k), fit.amplitude * std::cos(angle));
        if (given.has_sines()) compare(given.sines(n, k), fit.amplitude * std::sin(angle));
      }
    }
    if (check.fits) return check;
    if (check.max_deviation < best.max_deviation) best = check;
  }
  best.fits = false;
  return best;
}

}  // namespace sextant::interop

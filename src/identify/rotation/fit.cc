// The frequency of each pair of a cache of rotations, its first position and its amplitude.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/interruption.h"
#include "identify/numbers.h"
#include "identify/rotation/pair_fit.h"

namespace sextant::identify {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;
constexpr std::int64_t kFarthest = std::int64_t{1} << 20;  // first position of a slice

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
std::vector<std::int64_t> firsts_of(const std::vector<PairWave>& waves) {
  std::vector<std::int64_t> result;
  const auto fits = [&](std::int64_t first) {
    return std::all_of(waves.begin(), waves.end(), [&](const PairWave& wave) {
      const double p = static_cast<double>(first);
      const double off = std::remainder(p * wave.frequency - wave.phase, kTurn);
      return std::fabs(off) <=
             6 * wave.phase_error +
                 std::fabs(p) * (6 * wave.frequency_error + kFrequencyNoise * wave.frequency);
    });
  };
  for (std::int64_t p = 0; p <= kFarthest && result.size() < 16; ++p) {
    check_interruption();
    if (fits(p)) result.push_back(p);
    if (p != 0 && fits(-p)) result.push_back(-p);
  }
  return result;
}

}  // namespace

std::optional<RotationFit> fit_rotations(const Rotations& given, double unit_roundoff) {
  if (given.rows() < 6 || given.rows() * given.pairs() < 16) return std::nullopt;
  const double noise = 2 * std::max(unit_roundoff, 0x1p-44);
  const auto rows = static_cast<double>(std::min(given.rows(), kMaxRows));
  const auto wrong = [&](const PairWave& wave) {
    return wave.residual > 4 * noise * wave.amplitude +
                               (std::fabs(wave.phase) + rows * wave.frequency) * kFrequencyNoise;
  };
  const bool from_zero = starts_at_zero(given, noise);
  const std::optional<double> phase = from_zero ? std::optional(0.0) : std::nullopt;
  // The first pair rotates fast enough to show its amplitude.
  const PairWave lead = fit_pair(given, 0, noise, phase, std::nullopt);
  if (!(lead.amplitude > 0.01 && lead.amplitude < 100) || lead.frequency * rows < 1 ||
      wrong(lead)) {
    return std::nullopt;
  }
  double amplitude = lead.amplitude;
  if (from_zero && given.has_cosines()) amplitude = given.cosines(0, 0);
  if (std::fabs(amplitude - 1) < 4 * noise + 1e-6) amplitude = 1;
  std::vector<PairWave> waves;
  std::vector<std::int64_t> firsts = {0};
  for (std::int64_t k = 0; k < given.pairs(); ++k) {
    waves.push_back(fit_pair(given, k, noise, phase, amplitude));
    if (wrong(waves.back())) return std::nullopt;
    if (from_zero || k != std::min<std::int64_t>(given.pairs(), 4) - 1) continue;
    firsts = firsts_of(waves);
    if (firsts.empty()) return std::nullopt;
  }
  for (const std::int64_t first : firsts) {
    RotationFit fit{first, amplitude, {}, {}};
    bool good = true;
    for (std::int64_t k = 0; k < given.pairs() && good; ++k) {
      PairWave wave = waves[static_cast<std::size_t>(k)];
      if (!from_zero) {
        // The whole turns of the phase that the rough frequency leaves.
        const double p = static_cast<double>(first);
        const double turns = std::round((p * wave.frequency - wave.phase) / kTurn);
        if (first != 0) wave.frequency = std::fabs((wave.phase + kTurn * turns) / p);
        wave.phase = p * wave.frequency;
        refine_pair(given, k, noise, first, wave);
        good = !wrong(wave);
      }
      fit.frequencies.push_back(wave.frequency);
      fit.errors.push_back(6 * wave.frequency_error + kFrequencyNoise * wave.frequency);
    }
    if (good) return fit;
  }
  return std::nullopt;
}

namespace {

double rounded(double unit_roundoff, double value) {
  return unit_roundoff > 0 ? rounded_to(unit_roundoff, value) : value;
}

}  // namespace

std::optional<RotationCheck> check_rotations(const Rotations& given, const RotationFit& fit,
                                             double unit_roundoff) {
  // Exact angles; angles in float32; and those of frequencies that a float32 power made.
  for (int arithmetic = 0; arithmetic < 3; ++arithmetic) {
    RotationCheck check{arithmetic > 0, 0};
    bool fits = true;
    for (std::int64_t k = 0; k < given.pairs(); ++k) {
      check_interruption();
      const double frequency =
          rounded(fit.rounding.frequencies, fit.frequencies[static_cast<std::size_t>(k)]);
      for (std::int64_t n = 0; n < given.rows() && fits; ++n) {
        const double p = rounded(fit.rounding.positions, static_cast<double>(fit.first + n));
        const double product =
            arithmetic == 1
                ? static_cast<double>(static_cast<float>(p) * static_cast<float>(frequency))
                : p * frequency;
        const double angle = rounded(fit.rounding.angles, product);
        const auto compare = [&](double value, double made) {
          const double off = std::fabs(value - rounded_to(unit_roundoff, made));
          double allowed = 2 * unit_roundoff * std::fabs(made) + 0x1p-48 * std::fabs(p) + 1e-300;
          if (unit_roundoff > 0x1p-20 && unit_roundoff <= 0x1p-11) allowed += 0x1p-24;
          if (arithmetic > 0) allowed += 0x1p-23 * fit.amplitude;
          if (arithmetic == 2) allowed += std::fabs(angle) * kFrequencyNoise * fit.amplitude;
          fits = fits && off <= allowed;
          check.max_deviation = std::max(check.max_deviation, off);
        };
        if (given.has_cosines()) compare(given.cosines(n, k), fit.amplitude * std::cos(angle));
        if (given.has_sines()) compare(given.sines(n, k), fit.amplitude * std::sin(angle));
      }
    }
    if (fits) return check;
  }
  return std::nullopt;
}

}  // namespace sextant::identify

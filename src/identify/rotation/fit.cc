// The first position, the amplitude and the frequency of each pair of a cache of rotations.
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "core/interruption.h"
#include "identify/rotation/rotations.h"

namespace sextant::identify {
namespace {

constexpr std::int64_t kFarthest = std::int64_t{1} << 20;  // first position of a slice

// amplitude * e^(i phase) of row 0: least squares for a known frequency.
std::complex<double> wave_at_row_0(const Rotations& given, const Step& step, double frequency) {
  double cc = 0, cs = 0, ss = 0, xc = 0, xs = 0;
  const auto add = [&](double of_cosine, double of_sine, double x) {
    cc += of_cosine * of_cosine, cs += of_cosine * of_sine, ss += of_sine * of_sine;
    xc += of_cosine * x, xs += of_sine * x;
  };
  for (std::int64_t n = 0; n < given.table.size(0); ++n) {
    const double c = std::cos(static_cast<double>(n) * frequency);
    const double s = std::sin(static_cast<double>(n) * frequency);
    if (step.cosine >= 0) add(c, -s, given.table(n, step.cosine));
    if (step.sine >= 0) add(s, c, given.table(n, step.sine));
  }
  const double determinant = cc * ss - cs * cs;
  return {(xc * ss - xs * cs) / determinant, (xs * cc - xc * cs) / determinant};
}

// Whether row 0 has cosines that are all one number, and sines of zero.
bool starts_at_zero(const Rotations& given, double noise) {
  const auto& table = given.table;
  return std::all_of(given.steps.begin(), given.steps.end(), [&](const Step& step) {
    if (step.sine >= 0 && table(0, step.sine) != 0) return false;
    const double one = step.cosine >= 0 ? table(0, given.steps[0].cosine) : 1;
    return one > 0 && (step.cosine < 0 || std::fabs(table(0, step.cosine) - one) <= noise * one);
  });
}

// The first positions that the phases of the first pairs allow, nearest to 0 first.
std::vector<std::int64_t> firsts_of(const Rotations& given, double amplitude, double noise) {
  struct Phase {
    double frequency, frequency_error, phase, phase_error;
  };
  std::vector<Phase> phases;
  for (std::int64_t k = 0; k < std::min<std::int64_t>(given.pairs(), 4); ++k) {
    const Step& step = given.steps[static_cast<std::size_t>(k)];
    const auto f = measure(given.table, step, amplitude, noise);
    if (!f) continue;
    const double rows = static_cast<double>(given.table.size(0));
    phases.push_back({f->value, f->error + kFrequencyNoise * f->value,
                      std::arg(wave_at_row_0(given, step, f->value)),
                      6 * noise + 2 * rows * f->error});
  }
  const auto fits = [&](std::int64_t first) {
    const auto p = static_cast<double>(first);
    return std::all_of(phases.begin(), phases.end(), [&](const Phase& wave) {
      const double off = std::remainder(p * wave.frequency - wave.phase, 2 * std::numbers::pi);
      return std::fabs(off) <= wave.phase_error + std::fabs(p) * 6 * wave.frequency_error;
    });
  };
  std::vector<std::int64_t> result;
  for (std::int64_t p = 0; p <= kFarthest && result.size() < 16 && !phases.empty(); ++p) {
    if (p % 4096 == 0) check_interruption();
    if (fits(p)) result.push_back(p);
    if (p != 0 && fits(-p)) result.push_back(-p);
  }
  return result;
}

}  // namespace

std::optional<RotationFit> fit_rotations(const Rotations& whole, double unit_roundoff) {
  const std::int64_t rows = std::min(whole.table.size(0), kMaxFitRows);
  const Rotations given{whole.table.narrow(0, 0, rows), whole.steps};
  if (rows < 6 || rows * given.pairs() < 16) return std::nullopt;
  const double noise = 2 * std::max(unit_roundoff, 0x1p-44);
  const bool from_zero = starts_at_zero(given, noise);
  // The first pair rotates fast enough to show its amplitude.
  const Step& lead = given.steps.front();
  const auto fastest = measure(given.table, lead, 1, noise);
  if (!fastest || fastest->value * static_cast<double>(rows) < 1) return std::nullopt;
  double amplitude = std::abs(wave_at_row_0(given, lead, fastest->value));
  if (from_zero && lead.cosine >= 0) amplitude = given.table(0, lead.cosine);
  if (!(amplitude > 0.01 && amplitude < 100)) return std::nullopt;
  if (std::fabs(amplitude - 1) < 4 * noise + 1e-6) amplitude = 1;
  std::vector<std::int64_t> firsts = {0};
  if (!from_zero) firsts = firsts_of(given, amplitude, noise);
  for (const std::int64_t first : firsts) {
    RotationFit fit{first, amplitude, {}};
    const auto p = static_cast<double>(first);
    const double reach = std::fabs(p) + static_cast<double>(rows);
    for (const Step& step : given.steps) {
      const std::size_t before = fit.frequencies.size();
      const auto rough = measure(given.table, step, amplitude, noise);
      // A slow sine says little about its turns: it is fitted from a frequency of 0.
      for (const double start : {rough ? std::max(rough->value, rough->error / 4) : 0, 0.0}) {
        const FrequencyFit best = refine(given.table, step, amplitude, p, noise, start);
        const double f = best.frequency.value;
        if (!(best.residual <= 4 * noise * amplitude + reach * f * kFrequencyNoise)) continue;
        fit.frequencies.push_back({f, 6 * best.frequency.error + kFrequencyNoise * f});
        break;
      }
      if (fit.frequencies.size() == before) break;
    }
    if (std::ssize(fit.frequencies) == given.pairs()) return fit;
  }
  return std::nullopt;
}

}  // namespace sextant::identify

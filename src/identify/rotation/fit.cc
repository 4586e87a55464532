// The first position, the amplitude and the frequency of each pair of a cache of rotations.
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "core/threads/interruption.h"
#include "identify/rotation/rotations.h"

namespace sextant::identify {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;
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
    phases.push_back({f->value, 6 * f->error + kFrequencyNoise * f->value,
                      std::arg(wave_at_row_0(given, step, f->value)),
                      6 * noise + 2 * rows * f->error});
  }
  const auto fits = [&](std::int64_t first) {
    const auto p = static_cast<double>(first);
    return std::all_of(phases.begin(), phases.end(), [&](const Phase& wave) {
      const double off = std::remainder(p * wave.frequency - wave.phase, kTurn);
      return std::fabs(off) <= wave.phase_error + std::fabs(p) * wave.frequency_error;
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

// Returns frequencies from which to fit one. A slow sine says little about its turns: 0 is one of
// them. In a slice row 0 has made some whole turns since position 0, within the error of the rough
// frequency.
std::vector<double> starts_of(const Rotations& given, const Step& step, double amplitude, double p,
                              double noise) {
  const auto measured = measure(given.table, step, amplitude, noise);
  const Frequency rough = measured.value_or(Frequency{0, 0.1});
  std::vector<double> starts = {std::max(rough.value, rough.error / 4), 0};
  if (p == 0) return starts;
  const double phase = std::arg(wave_at_row_0(given, step, rough.value));
  std::vector<double> phases = {phase};
  if (!step.is_pair()) {
    const double x = given.table(0, std::max(step.cosine, step.sine)) / amplitude;
    const double angle = std::acos(std::clamp(x, -1.0, 1.0));
    phases = {angle, -angle};
    if (step.sine >= 0) phases = {std::numbers::pi / 2 - angle, std::numbers::pi / 2 + angle};
  }
  const double reach = std::min(8.0, std::round(3 * rough.error * std::fabs(p) / kTurn));
  for (const double each : phases) {
    const double turns = std::round((p * rough.value - each) / kTurn);
    for (double more = -reach; more <= reach; ++more) {
      const double start = (each + kTurn * (turns + more)) / p;
      if (start > 0) starts.push_back(start);
    }
  }
  return starts;
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
      FrequencyFit best{{}, HUGE_VAL};
      for (const double start : starts_of(given, step, amplitude, p, noise)) {
        const FrequencyFit next = refine(given.table, step, amplitude, p, noise, start);
        if (next.residual < best.residual) best = next;
        if (best.residual <= noise * amplitude) break;
      }
      const double f = best.frequency.value;
      if (!(best.residual <= 4 * noise * amplitude + reach * f * kFrequencyNoise)) break;
      fit.frequencies.push_back({f, 6 * best.frequency.error + kFrequencyNoise * f});
    }
    if (std::ssize(fit.frequencies) == given.pairs()) return fit;
  }
  return std::nullopt;
}

}  // namespace sextant::identify

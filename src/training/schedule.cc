// Warm-up and decay.
#include "sextant/training/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "core/enum_names.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"

namespace sextant {
namespace {

void check(const Schedule& schedule) {
  if (name_of(schedule.decay) == "unknown") {
    throw Error("schedule.decay", "must be one of the named values, got " +
                                      std::to_string(static_cast<int>(schedule.decay)));
  }
  if (!(schedule.peak > 0) || !std::isfinite(schedule.peak)) {
    throw Error("schedule.peak", "must be above 0 and finite, got " + shortest(schedule.peak));
  }
  const std::int64_t least = schedule.decay == Decay::inverse_square_root ? 1 : 0;
  if (schedule.warmup < least) {
    throw Error("schedule.warmup", "must be at least " + std::to_string(least) + ", got " +
                                       std::to_string(schedule.warmup));
  }
  if (schedule.decay != Decay::cosine) return;
  if (schedule.steps <= schedule.warmup) {
    throw Error("schedule.steps", "must be above the warm-up of " +
                                      std::to_string(schedule.warmup) + " for a cosine, got " +
                                      std::to_string(schedule.steps));
  }
  if (!(schedule.floor >= 0 && schedule.floor <= schedule.peak)) {
    throw Error("schedule.floor", "must be 0 .. the peak of " + shortest(schedule.peak) + ", got " +
                                      shortest(schedule.floor));
  }
}

}  // namespace

std::string_view name_of(Decay decay) noexcept {
  return enum_name(decay, {"constant", "inverse_square_root", "cosine"});
}

double learning_rate(const Schedule& schedule, std::int64_t step) {
  check(schedule);
  if (step < 0) throw Error("schedule.step", "must be at least 0, got " + std::to_string(step));
  const double n = static_cast<double>(step) + 1;
  const auto warmup = static_cast<double>(schedule.warmup);
  if (n <= warmup) return schedule.peak * n / warmup;
  switch (schedule.decay) {
    case Decay::constant:
      break;
    case Decay::inverse_square_root:
      return schedule.peak * std::sqrt(warmup / n);
    case Decay::cosine: {
      const double done =
          std::min(1.0, (n - warmup) / (static_cast<double>(schedule.steps) - warmup));
      return schedule.floor +
             (schedule.peak - schedule.floor) * (1 + std::cos(std::numbers::pi * done)) / 2;
    }
  }
  return schedule.peak;
}

double vaswani_peak(std::int64_t width, std::int64_t warmup) {
  if (width < 1) throw Error("schedule.width", "must be at least 1, got " + std::to_string(width));
  if (warmup < 1) {
    throw Error("schedule.warmup", "must be at least 1, got " + std::to_string(warmup));
  }
  return 1 / std::sqrt(static_cast<double>(width) * static_cast<double>(warmup));
}

}  // namespace sextant

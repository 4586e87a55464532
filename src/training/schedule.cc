// Warm-up and decay.
#include "sextant/training/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "training/training_fields.h"

namespace sextant {
namespace {

void check(const Schedule& schedule) {
  check_fields("schedule", schedule);
  if (schedule.decay == Decay::inverse_square_root && schedule.warmup == 0) {
    throw Error("schedule.warmup", "must be at least 1, got 0");
  }
  if (!has_end(schedule.decay)) return;
  if (schedule.steps <= schedule.warmup) {
    throw Error("schedule.steps", "must be above the warm-up of " +
                                      std::to_string(schedule.warmup) + " for " +
                                      std::string(name_of(schedule.decay)) + ", got " +
                                      std::to_string(schedule.steps));
  }
  if (schedule.floor > schedule.peak) {
    throw Error("schedule.floor", "must be 0 .. the peak of " + shortest(schedule.peak) + ", got " +
                                      shortest(schedule.floor));
  }
}

// How much of the decay of step n is done, 0 .. 1.
double done_at(const Schedule& schedule, double n) {
  const auto warmup = static_cast<double>(schedule.warmup);
  const auto steps = static_cast<double>(schedule.steps);
  const double start =
      schedule.decay == Decay::wsd ? std::max(warmup, steps * (1 - schedule.decay_share)) : warmup;
  return std::clamp((n - start) / (steps - start), 0.0, 1.0);
}

}  // namespace

bool has_end(Decay decay) noexcept {
  return decay == Decay::cosine || decay == Decay::linear || decay == Decay::wsd;
}

std::string_view name_of(Decay decay) noexcept {
  return enum_name(decay, {"constant", "inverse_square_root", "cosine", "linear", "wsd"});
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
    case Decay::cosine:
      return schedule.floor + (schedule.peak - schedule.floor) *
                                  (1 + std::cos(std::numbers::pi * done_at(schedule, n))) / 2;
    case Decay::linear:
    case Decay::wsd:
      return std::lerp(schedule.peak, schedule.floor, done_at(schedule, n));
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

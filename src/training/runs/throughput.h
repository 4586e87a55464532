// How fast a training goes, and how long it will still take.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "sextant/training/trainer.h"

namespace sextant {

class Throughput {
 public:
  // From the state with which this sitting begins.
  Throughput(std::int64_t step, double seconds) : first_step_(step), first_seconds_(seconds) {}

  void add(double tokens, double seconds) {
    recent_tokens_ = kKept * recent_tokens_ + tokens;
    recent_seconds_ = kKept * recent_seconds_ + seconds;
  }
  double tokens_per_second() const {
    return recent_seconds_ > 0 ? recent_tokens_ / recent_seconds_ : 0;
  }

  std::optional<double> seconds_left(const TrainerOptions& options, std::int64_t step,
                                     double seconds) const {
    std::optional<double> left;
    if (options.minutes > 0) left = std::max(0.0, options.minutes * 60 - seconds);
    if (options.steps > 0) {
      const double per_step = (seconds - first_seconds_) / static_cast<double>(step - first_step_);
      const double by_steps = per_step * static_cast<double>(options.steps - step);
      left = left ? std::min(*left, by_steps) : by_steps;
    }
    return left;
  }

 private:
  static constexpr double kKept = 0.9;  // of the old speed

  std::int64_t first_step_;
  double first_seconds_;
  double recent_tokens_ = 0, recent_seconds_ = 0;  // of the last steps
};

}  // namespace sextant

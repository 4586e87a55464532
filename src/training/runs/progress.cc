// Progress as text.
#include "sextant/training/progress.h"

#include <cmath>
#include <vector>

#include "sextant/core/numbers.h"

namespace sextant {

std::string clock_text(double seconds) {
  constexpr double kMost = 1e9;  // seconds: 30 years
  if (!(seconds >= 0 && seconds <= kMost)) return "?";
  const auto whole = static_cast<std::int64_t>(seconds);
  const auto two = [](std::int64_t number) {
    return (number < 10 ? ":0" : ":") + std::to_string(number);
  };
  const std::int64_t hours = whole / 3600, minutes = whole / 60 % 60;
  const std::string rest = two(whole % 60);
  return hours > 0 ? std::to_string(hours) + two(minutes) + rest : std::to_string(minutes) + rest;
}

std::string progress_line(const TrainingProgress& progress, std::int64_t width,
                          const LastValidation& last_validation) {
  const StepMetrics& now = progress.metrics;
  std::vector<std::string> parts;
  parts.push_back("step " + std::to_string(now.step) +
                  (progress.steps > 0 ? "/" + std::to_string(progress.steps) : ""));
  parts.push_back("loss " + fixed(now.mean_loss, 3));
  parts.push_back(fixed(now.tokens_per_second, 0) + " tokens/s");
  if (progress.seconds_left) parts.push_back(clock_text(*progress.seconds_left) + " left");
  const LastValidation shown =
      now.validation_loss ? LastValidation{now.step, *now.validation_loss} : last_validation;
  if (shown.step > 0) {
    parts.push_back("validation " + fixed(shown.loss, 3) + " at " + std::to_string(shown.step));
  }

  std::string line;
  for (const std::string& part : parts) {
    const std::string longer = line.empty() ? part : line + "  " + part;
    if (static_cast<std::int64_t>(longer.size()) > width) break;
    line = longer;
  }
  return line;
}

}  // namespace sextant

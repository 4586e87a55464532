// Holds the metrics of a step, and reads and writes their file: one JSON object per line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sextant {

// Losses are per token, in nats. Only seconds and tokens_per_second depend on the machine.
struct StepMetrics {
  std::int64_t step = 0;     // number of finished steps, with this one
  double loss = 0;           // negative log likelihood
  double objective = 0;      // the minimised loss, with label smoothing
  double mean_loss = 0;      // moving average of loss, 0.98 of the old and 0.02 of the new
  double gradient_norm = 0;  // before clipping
  double learning_rate = 0;
  std::int64_t tokens = 0;       // targets seen since the start
  double seconds = 0;            // seconds since the start, across resumed runs
  double tokens_per_second = 0;  // over the last steps
  std::optional<double> validation_loss, validation_accuracy;
};

// Returns a line of metrics.jsonl without its end: an object with all of them, and those of a
// validation if there was one.
std::string format_metrics(const StepMetrics& metrics);

// The curves of a metrics.jsonl, for LinePanels. An incomplete last line (a process is writing or
// was killed) is ignored. Throws an Error with the file and the line for anything else that is no
// metrics.
struct LossCurves {
  std::vector<double> steps, loss, mean_loss, seconds;
  std::vector<double> validation_steps, validation_loss;
};
LossCurves loss_curves(const std::string& path);

}  // namespace sextant

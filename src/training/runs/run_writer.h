// The folder of a run while it trains: metrics of every step, checkpoints of some.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sextant/training/checkpoint.h"
#include "sextant/training/trainer.h"
#include "training/runs/metrics_file.h"

namespace sextant {

class RunWriter {
 public:
  // Makes or opens options.folder and loads its last checkpoint. Throws Error as train() does.
  RunWriter(const TrainerOptions& options, TrainingTask& task, Optimiser& optimiser,
            TrainingState& state);
  RunWriter(const RunWriter&) = delete;
  RunWriter& operator=(const RunWriter&) = delete;
  // A new run that has not made a step is taken back.
  ~RunWriter();

  // A step, and a checkpoint where it is to be kept.
  void write(const StepMetrics& metrics, bool keep, TrainingTask& task, Optimiser& optimiser,
             TrainingState& state);
  // "FOLDER/last keeps step 6", or empty.
  std::string last_checkpoint_text() const;
  const RunFolder& folder() const noexcept { return run_; }

 private:
  RunFolder run_;
  std::optional<MetricsFile> metrics_;
  bool is_new_;
};

}  // namespace sextant

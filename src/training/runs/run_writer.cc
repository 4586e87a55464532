// The written state is always the one between two steps.
#include "training/runs/run_writer.h"

#include "training/runs/run_description.h"

namespace sextant {

RunWriter::RunWriter(const TrainerOptions& options, TrainingTask& task, Optimiser& optimiser,
                     TrainingState& state)
    : run_(options.resume ? RunFolder::open(options.folder)
                          : RunFolder::create(options.folder, describe_run(options))),
      is_new_(!options.resume) {
  try {
    if (options.resume) check_same_run(run_.path() + "/run.json", run_.description(), options);
    state = run_.load(task, optimiser);
    metrics_.emplace(run_.path() + "/metrics.jsonl", state.metrics_bytes, state.metrics_checksum);
  } catch (...) {
    if (is_new_) run_.discard();
    throw;
  }
}

RunWriter::~RunWriter() {
  metrics_.reset();
  if (is_new_) run_.discard();
}

void RunWriter::write(const StepMetrics& metrics, bool keep, TrainingTask& task,
                      Optimiser& optimiser, TrainingState& state) {
  metrics_->append(metrics);
  state.metrics_bytes = metrics_->bytes();
  state.metrics_checksum = metrics_->checksum();
  is_new_ = false;
  if (!keep) return;
  metrics_->sync();
  run_.save(task, optimiser, state);
}

std::string RunWriter::last_checkpoint_text() const {
  const auto last = run_.last_step();
  return last ? run_.path() + "/last keeps step " + std::to_string(*last) : "";
}

}  // namespace sextant

// Progress and signals.
#include "train_watch.h"

#include <unistd.h>

#include <csignal>
#include <string_view>

namespace sextant::app {
namespace {

volatile std::sig_atomic_t caught_signal = 0;
void (*old_handlers[2])(int) = {SIG_DFL, SIG_DFL};
constexpr int kSignals[] = {SIGINT, SIGTERM};

// Only what is allowed in a signal handler.
void on_signal(int number) {
  caught_signal = number;
  for (const int other : kSignals) std::signal(other, SIG_DFL);
  constexpr std::string_view kLine =
      "\nsextant: stopping after this step, to save; once more ends at once\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kLine.data(), kLine.size());
}

constexpr double kTerminalPause = 0.1;  // seconds between lines
constexpr double kFilePause = 30;
constexpr std::int64_t kFileWidth = 100;

}  // namespace

StopSignals::StopSignals() {
  caught_signal = 0;
  for (int i = 0; i < 2; ++i) {
    old_handlers[i] = std::signal(kSignals[i], on_signal);
    if (old_handlers[i] == SIG_IGN) std::signal(kSignals[i], SIG_IGN);
  }
}

StopSignals::~StopSignals() {
  for (int i = 0; i < 2; ++i) std::signal(kSignals[i], old_handlers[i]);
}

int StopSignals::caught() noexcept { return caught_signal; }

void TrainProgress::show(const TrainingProgress& progress) {
  const StepMetrics& now = progress.metrics;
  if (now.validation_loss) validation_ = {now.step, *now.validation_loss};
  const bool terminal = stderr_is_terminal();
  const double pause = terminal ? kTerminalPause : kFilePause;
  if (shown_at_ >= 0 && !now.validation_loss && now.seconds < shown_at_ + pause) return;
  shown_at_ = now.seconds;
  if (terminal) {
    line_.show(progress_line(progress, terminal_width() - 1, validation_));
  } else {
    note(progress_line(progress, kFileWidth, validation_));
  }
}

}  // namespace sextant::app

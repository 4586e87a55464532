// Progress and signals.
#include "training/train_watch.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "streams/process.h"

namespace sextant::app {
namespace {

volatile sig_atomic_t caught_signal = 0, tells_of_it = 1;
std::array<struct sigaction, kEndSignals.size()> old_actions;

void restore_actions() noexcept {
  for (std::size_t i = 0; i < kEndSignals.size(); ++i) {
    ::sigaction(kEndSignals[i], &old_actions[i], nullptr);
  }
}

// Does only what a signal handler may do, and nothing that the interrupted code could notice.
void on_signal(int number) {
  const int kept = errno;
  caught_signal = number;
  restore_actions();
  constexpr std::string_view kLine =
      "\nsextant: saving after this step; press Ctrl-C again to quit at once\n";
  if (tells_of_it) {
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kLine.data(), kLine.size());
  }
  errno = kept;
}

constexpr double kTerminalPause = 0.1;  // seconds between lines
constexpr double kFilePause = 30;
constexpr std::int64_t kFileWidth = 100;

}  // namespace

StopSignals::StopSignals(bool tells) {
  caught_signal = 0;
  tells_of_it = tells;
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);  // a macro on macOS
  // While one of them is handled, no other.
  for (const int number : kEndSignals) sigaddset(&action.sa_mask, number);
  for (std::size_t i = 0; i < kEndSignals.size(); ++i) {
    ::sigaction(kEndSignals[i], nullptr, &old_actions[i]);
  }
  for (std::size_t i = 0; i < kEndSignals.size(); ++i) {
    if (old_actions[i].sa_handler != SIG_IGN) ::sigaction(kEndSignals[i], &action, nullptr);
  }
}

StopSignals::~StopSignals() { restore_actions(); }

int StopSignals::caught() noexcept { return caught_signal; }

int stopping_signal(TrainingGroup* group) {
  const int caught = StopSignals::caught();
  if (group == nullptr) return caught;
  for (const int number : {SIGINT, SIGHUP, SIGTERM}) {
    if (group->any(caught == number)) return number;
  }
  return 0;
}

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

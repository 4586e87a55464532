// Streams and signals.
#include "streams/process.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "sextant/core/files.h"

namespace sextant::app {
namespace {

void open_missing_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest number that is free is this one.
    const int opened = ::open("/dev/null", stream == STDIN_FILENO ? O_RDONLY : O_WRONLY);
    if (opened != stream) ::_exit(1);  // nowhere to say so
  }
}

// Does only what a signal handler may do. The signal is raised again without a handler, so that a
// shell sees which one it was.
void end_by(int number) {
  remove_temporary_files();
  ::raise(number);
}

}  // namespace

void prepare_process() {
  open_missing_streams();
  struct sigaction action {};
  sigemptyset(&action.sa_mask);  // a macro on macOS
  action.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &action, nullptr);
  action.sa_handler = end_by;
  action.sa_flags = SA_RESETHAND;
  for (const int number : kEndSignals) {
    struct sigaction before {};
    ::sigaction(number, nullptr, &before);
    if (before.sa_handler != SIG_IGN) ::sigaction(number, &action, nullptr);
  }
}

}  // namespace sextant::app

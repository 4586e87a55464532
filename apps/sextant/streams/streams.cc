// POSIX calls, again until they are done.
#include "streams/streams.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "sextant/core/error.h"

namespace sextant::app {
namespace {

// Whether the call is worth another try, if need be after a while.
bool again(int descriptor, short event) noexcept {
  if (errno == EINTR) return true;
  if (errno != EAGAIN && errno != EWOULDBLOCK) return false;
  pollfd one{descriptor, event, 0};
  return ::poll(&one, 1, -1) >= 0 || errno == EINTR;
}

}  // namespace

int write_stream(int descriptor, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (!again(descriptor, POLLOUT)) {
      return errno;
    }
  }
  return 0;
}

std::size_t read_some_stdin(std::span<char> buffer) {
  while (true) {
    const ssize_t count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (count >= 0) return static_cast<std::size_t>(count);
    if (again(STDIN_FILENO, POLLIN)) continue;
    throw Error("stdin", "cannot be read: " + std::generic_category().message(errno));
  }
}

}  // namespace sextant::app

// The two streams of a command.
#include "streams/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <system_error>

#include "sextant/core/error.h"
#include "sextant/core/printable.h"
#include "streams/streams.h"

namespace sextant::app {
namespace {

constexpr std::size_t kLongestNote = 2000;  // bytes of a line on stderr

winsize terminal_size() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return {};
  return size;
}

// A size that was set by hand, or by a program that shows the output elsewhere.
std::optional<std::int64_t> from_environment(const char* name) {
  constexpr std::int64_t kLargest = 10000;
  const char* text = std::getenv(name);
  if (text == nullptr) return std::nullopt;
  std::int64_t size = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, problem] = std::from_chars(text, end, size);
  if (problem != std::errc() || stop != end || size < 1) return std::nullopt;
  return std::min(size, kLargest);
}

// The bytes of a colour or its end at the front of `text`: "\x1b[", digits and semicolons, "m".
std::size_t color_bytes(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const std::size_t end = text.find_first_not_of("0123456789;", 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

std::string for_terminal(std::string_view text, Colors colors) {
  std::string shown;
  while (!text.empty()) {
    const std::size_t color = colors == Colors::drawn ? color_bytes(text) : 0;
    const std::size_t rest = std::min(text.size(), text.find('\x1b', 1));
    shown += color > 0 ? std::string(text.substr(0, color)) : terminal_text(text.substr(0, rest));
    text.remove_prefix(color > 0 ? color : rest);
  }
  return shown;
}

}  // namespace

bool stdout_is_terminal() { return ::isatty(STDOUT_FILENO) == 1; }
bool stderr_is_terminal() { return ::isatty(STDERR_FILENO) == 1; }

bool use_color() {
  const char* off = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return stdout_is_terminal() && (off == nullptr || *off == '\0') &&
         (terminal == nullptr || std::string_view(terminal) != "dumb");
}

std::int64_t terminal_width() {
  const winsize size = terminal_size();
  return from_environment("COLUMNS").value_or(size.ws_col > 0 ? size.ws_col : 80);
}

std::int64_t terminal_height() {
  const winsize size = terminal_size();
  return from_environment("LINES").value_or(size.ws_row > 0 ? size.ws_row : 24);
}

void print(std::string_view text, Colors colors) {
  const int problem = stdout_is_terminal() ? write_stream(STDOUT_FILENO, for_terminal(text, colors))
                                           : write_stream(STDOUT_FILENO, text);
  if (problem == EPIPE) throw ReaderGone{};
  if (problem == 0) return;
  throw Error("stdout", "cannot be written: " + std::generic_category().message(problem));
}

void note(std::string_view text) {
  // Nobody to tell that stderr is gone.
  write_stream(STDERR_FILENO, "sextant: " + printable(text, kLongestNote) + "\n");
}

void Progress::show(std::string_view text) const {
  if (!stderr_is_terminal()) return;
  write_stream(STDERR_FILENO, "\r\033[K" + printable(text, kLongestNote));
}

std::string read_stdin(std::uint64_t limit) {
  std::string text;
  std::array<char, 65536> buffer;
  while (true) {
    const std::size_t count = read_some_stdin(buffer);
    if (count == 0) return text;
    text.append(buffer.data(), count);
    if (text.size() > limit) {
      throw Error("stdin", "must be at most " + std::to_string(limit) + " bytes long");
    }
  }
}

}  // namespace sextant::app

// The two streams of a command: results go to stdout, everything else to stderr, and only when a
// person is looking.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/json/json_text.h"

namespace sextant::app {

bool stdout_is_terminal();
bool stderr_is_terminal();
// A terminal that understands colour, and no NO_COLOR (no-color.org) in the environment.
bool use_color();
// COLUMNS and LINES of the environment, else the terminal's own size, else 80 cells and 24 lines.
std::int64_t terminal_width();
std::int64_t terminal_height();

// Thrown when the reader of stdout has seen enough (`sextant ... | head`): no error, just the end.
struct ReaderGone {};

// Whether a text is drawn with colours of the program's own, as draw_terminal() makes them.
enum class Colors { none, drawn };

// Writes to stdout; to a terminal as terminal_text(), except for the program's colours. Throws
// ReaderGone, or Error if the bytes cannot be written (a full disk).
void print(std::string_view text, Colors colors = Colors::none);

// A line on stderr for the person, with "sextant: " before it.
void note(std::string_view text);

// A line on stderr that is replaced by the next one and vanishes at the end; silent unless stderr
// is a terminal.
class Progress {
 public:
  explicit Progress(std::string_view text) { show(text); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { show(""); }
  void show(std::string_view text) const;
};

// All of stdin. Throws Error when it cannot be read or is larger than `limit` bytes.
std::string read_stdin(std::uint64_t limit = std::uint64_t{1} << 32);

}  // namespace sextant::app

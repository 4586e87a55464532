// Lines of text as they come.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sextant::app {

// The lines of a text, or those of stdin as soon as they are there, so that a program that writes
// line by line is answered line by line. "\r" at a line's end and a byte order mark at the
// beginning are dropped; the line break at the end of all begins no line.
class LineSource {
 public:
  // `text` that is whole already, or stdin.
  explicit LineSource(std::string text);
  LineSource() = default;

  // The next lines, at most `most`; none at the end. Throws Error when stdin cannot be read, or one
  // of its lines is above 1 GiB.
  std::vector<std::string> next(std::size_t most);

 private:
  void read_some();

  std::string text_;    // not given out yet
  bool ended_ = false;  // nothing follows text_
  bool begun_ = false;
};

}  // namespace sextant::app

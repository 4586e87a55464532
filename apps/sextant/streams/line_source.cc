// Lines of text as they come.
#include "streams/line_source.h"

#include <array>
#include <utility>

#include "sextant/core/error.h"
#include "streams/streams.h"

namespace sextant::app {

LineSource::LineSource(std::string text) : text_(std::move(text)), ended_(true) {}

void LineSource::read_some() {
  constexpr std::size_t kLongest = std::size_t{1} << 30;
  std::array<char, 65536> buffer;
  const std::size_t count = read_some_stdin(buffer);
  ended_ = count == 0;
  text_.append(buffer.data(), count);
  if (text_.size() > kLongest) throw Error("stdin", "must have lines of at most 1 GiB");
}

std::vector<std::string> LineSource::next(std::size_t most) {
  // Only new bytes are searched: a line may come in many parts.
  for (std::size_t searched = 0; !ended_ && text_.find('\n', searched) == std::string::npos;) {
    searched = text_.size();
    read_some();
  }
  if (!std::exchange(begun_, true) && text_.starts_with("\xEF\xBB\xBF")) text_.erase(0, 3);
  std::vector<std::string> lines;
  std::size_t at = 0;
  while (lines.size() < most && at < text_.size()) {
    const std::size_t found = text_.find('\n', at);
    if (found == std::string::npos && !ended_) break;
    const std::size_t end = found == std::string::npos ? text_.size() : found;
    std::string line = text_.substr(at, end - at);
    if (line.ends_with('\r')) line.pop_back();
    lines.push_back(std::move(line));
    at = found == std::string::npos ? end : end + 1;
  }
  text_.erase(0, at);
  return lines;
}

}  // namespace sextant::app

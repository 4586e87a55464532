// The lines of a text, one after the other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace sextant::text {

// Lines with their numbers, without "\n" or "\r\n"; nothing follows the last line break.
class LineReader {
 public:
  explicit LineReader(std::string_view text) : rest_(text) {}
  bool next(std::string_view& line) {
    if (rest_.empty()) return false;
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    line = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    ++number_;
    return true;
  }
  std::string place() const { return "line " + std::to_string(number_); }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
  std::int64_t number_ = 0;
};

}  // namespace sextant::text

// The one exception of the library, for a caller's mistake or an unusable file, with a one-line
// message.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace sextant {

// Thrown at the public boundary, never from inside a kernel. The message names the argument, what
// was wrong and what is allowed: "[rotary.head_dim] must be even, got 7".
class Error : public std::invalid_argument {
 public:
  Error(std::string_view where, std::string_view what);

  // The argument or file at fault, without brackets.
  const std::string& where() const noexcept { return where_; }

 private:
  std::string where_;
};

}  // namespace sextant

// Declares the one exception of the library, for a caller's mistake or an unusable file, with a
// one-line message.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace sextant {

// Thrown by public functions, never inside a kernel. The message names the argument, the mistake
// and the allowed values: "[rotary.head_dim] must be even, got 7".
class Error : public std::invalid_argument {
 public:
  Error(std::string_view where, std::string_view what);

  // Returns the argument or file at fault, without brackets.
  const std::string& where() const noexcept { return where_; }

 private:
  std::string where_;
};

}  // namespace sextant

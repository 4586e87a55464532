// The text of an error: "[where] what".
#include "sextant/core/error.h"

namespace sextant {
namespace {

std::string error_text(std::string_view where, std::string_view what) {
  std::string text;
  text.reserve(where.size() + what.size() + 3);
  return text.append("[").append(where).append("] ").append(what);
}

}  // namespace

Error::Error(std::string_view where, std::string_view what)
    : std::invalid_argument(error_text(where, what)), where_(where) {}

}  // namespace sextant

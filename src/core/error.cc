// The text of an error: "[where] what".
#include "sextant/core/error.h"

#include "sextant/core/printable.h"

namespace sextant {
namespace {

constexpr std::size_t kLongestWhere = 400;  // bytes: a path is seldom longer

// Both parts may hold names from files and from the command line.
std::string error_text(std::string_view where, std::string_view what) {
  return "[" + printable(where, kLongestWhere) + "] " + printable(what);
}

}  // namespace

Error::Error(std::string_view where, std::string_view what)
    : std::invalid_argument(error_text(where, what)), where_(where) {}

}  // namespace sextant

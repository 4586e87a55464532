// The search of a name in a list, with the list in the error.
#include "sextant/core/names.h"

#include <algorithm>
#include <string>

#include "core/options/nearest.h"
#include "core/text/strings.h"
#include "sextant/core/error.h"
#include "sextant/core/printable.h"

namespace sextant {

std::size_t find_name(std::span<const std::string_view> names, std::string_view name,
                      std::string_view where) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  throw Error(where, "must be one of " + joined(names, ", ") + ", got " + printable_quote(name) +
                         suggested(name, names));
}

}  // namespace sextant

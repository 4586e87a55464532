// They are not there.
#include "sextant/text/libraries.h"

#include "sextant/core/error.h"
#include "text/without/missing.h"

namespace sextant {

bool has_text_libraries() noexcept { return false; }

void text::throw_missing(std::string_view where, std::string_view library) {
  throw Error(where, "needs " + std::string(library) +
                         ", which this build of sextant is without (SEXTANT_TEXT)");
}

}  // namespace sextant

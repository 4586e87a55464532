// They are there.
#include "sextant/text/libraries.h"

namespace sextant {

bool has_text_libraries() noexcept { return true; }

}  // namespace sextant

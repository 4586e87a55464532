// Any text as a number or a list of numbers: a value that reads back from its own text, or an
// Error.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "sextant/core/error.h"
#include "sextant/core/numbers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    if (sextant::parse_int64_list(text, "list", 1000).size() > 1000) std::abort();
  } catch (const sextant::Error&) {
  }
  try {
    const double value = sextant::parse_double(text, "number");
    if (!std::isnan(value) && sextant::parse_double(sextant::shortest(value), "again") != value)
      std::abort();
    sextant::fixed(value, static_cast<int>(size % 40));
  } catch (const sextant::Error&) {
  }
  return 0;
}

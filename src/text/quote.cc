// Makes any bytes printable: an error message must not flood or steer a terminal.
#include "text/quote.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <cstdint>

#include "sextant/text/segment.h"

namespace sextant::text {

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kMaxBytes = 1000;  // a visible character can be long, a message cannot
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  std::string shown;
  for (std::size_t at = 0; at < text.size() && at < kMaxBytes;) {
    const std::size_t begin = at;
    UChar32 c = 0;
    U8_NEXT(bytes, at, text.size(), c);
    if (c >= 0 && u_isprint(c)) {
      shown += text.substr(begin, at - begin);
    } else {
      shown += '?';
    }
  }
  return '"' + shorten(shown, 40) + '"';
}

}  // namespace sextant::text

// Memory that JavaScript has asked for is freed here.
#include "text/browser/javascript.h"

#include <emscripten.h>

#include <cstdlib>

// The string of UTF-8, zero bytes and a byte order mark included. The return types are those of
// other functions of JavaScript, which alone call these.
// clang-format off
EM_JS(int, sextant_text, (const char* begin, int bytes), {
  return new TextDecoder("utf-8", {ignoreBOM: true}).decode(HEAPU8.subarray(begin, begin + bytes));
})
EM_JS(char*, sextant_copy, (int string), {
  const size = lengthBytesUTF8(string) + 1;
  const copy = _malloc(size);
  stringToUTF8(string, copy, size);
  return copy;
})
EM_JS(int32_t*, sextant_list, (int numbers), {
  const list = _malloc(4 * (numbers.length + 1));
  HEAP32[list >> 2] = numbers.length;
  HEAP32.set(numbers, (list >> 2) + 1);
  return list;
})
// clang-format on

namespace sextant::text {

std::vector<std::int32_t> taken_list(std::int32_t* returned) {
  const std::int32_t* const first = returned + 1;
  std::vector<std::int32_t> list(first, first + *returned);
  std::free(returned);
  return list;
}

std::string taken_text(char* returned) {
  std::string text(returned);
  std::free(returned);
  return text;
}

}  // namespace sextant::text

// Texts and lists of numbers from C++ to JavaScript and back.
//
// Bodies of EM_JS call sextant_text(begin, bytes) for a text, and return sextant_list(array) for
// whole numbers or sextant_copy(string) for a text, which the functions below take. A backslash in
// such a body would be gone before JavaScript sees it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sextant::text {

// Takes what sextant_list() has returned.
std::vector<std::int32_t> taken_list(std::int32_t* returned);
// Takes what sextant_copy() has returned: the text up to a zero byte.
std::string taken_text(char* returned);

}  // namespace sextant::text

// Makes the error of check_utf8(), for texts that are checked in pieces.
#pragma once

#include <cstdint>
#include <string_view>

namespace sextant::text {

[[noreturn]] void throw_not_utf8(std::string_view where, char byte, std::uint64_t offset);

}  // namespace sextant::text

// Bytes as text: RFC 4648, with padding.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sextant {

std::string to_base64(std::string_view bytes);
// Returns nothing for a text that is no base64.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace sextant

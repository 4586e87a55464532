// Suggests the name nearest to an unknown one.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sextant {

// The shortest candidate that begins with `word` (of two letters or more); else the one that
// differs from it by the fewest inserted, removed, changed or swapped letters; empty when every one
// is too far away to be meant.
std::string nearest(std::string_view word, std::span<const std::string_view> candidates);

// "; did you mean 'rotary'?", or nothing.
std::string suggested(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace sextant

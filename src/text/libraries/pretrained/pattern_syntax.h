// Regular expressions of Oniguruma, which tokenizers uses, in the words of ICU.
#pragma once

#include <string>
#include <string_view>

#include "text/libraries/pretrained/fields.h"

namespace sextant::text {

// The same expression for ICU. What both understand in another way and cannot be told apart here
// is an Error that names it: a possessive {n,m}+, sets with -- or an unescaped [, \h, \K, \G, \R,
// \X, \O, \N, \y, \Y, references and conditions.
std::string icu_pattern(std::string_view pattern, const Field& field);

}  // namespace sextant::text

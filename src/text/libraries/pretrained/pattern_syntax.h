// Regular expressions of Oniguruma, which tokenizers uses, in the words of ICU.
#pragma once

#include <string>
#include <string_view>

#include "text/libraries/pretrained/fields.h"

namespace sextant::text {

// Returns the same expression for ICU. Parts that the two libraries read differently and that
// cannot be rewritten are an Error that names them: a possessive {n,m}+, sets with -- or an
// unescaped [, \h, \K, \G, \R, \X, \O, \N, \y, \Y, references and conditions.
std::string icu_pattern(std::string_view pattern, const Field& field);

}  // namespace sextant::text

// Regular expressions of Oniguruma, which tokenizers uses, in the words of ICU and of JavaScript.
#pragma once

#include <string>
#include <string_view>

#include "text/pretrained/fields.h"

namespace sextant::text {

// Returns the same expression for ICU. Parts that the libraries read differently and that cannot be
// rewritten are an Error that names them: a possessive {n,m}+, sets with -- or an unescaped [, \h,
// \K, \G, \R, \X, \O, \N, \y, \Y, references and conditions.
std::string icu_pattern(std::string_view pattern, const Field& field);

// The same for RegExp with the flag u. Refuses (?> and a possessive quantifier in (?<= and (?<!
// too: JavaScript has them as a group in (?= with a reference to it.
std::string javascript_pattern(std::string_view pattern, const Field& field);

}  // namespace sextant::text

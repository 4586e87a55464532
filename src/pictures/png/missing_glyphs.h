// Characters of a picture that a PNG or PDF file of it cannot show, because no installed font has
// them.
#pragma once

#include <string>
#include <string_view>

namespace sextant::pictures {

// The visible characters of the texts of an SVG picture, each once, ascending.
std::u32string characters_of(std::string_view svg);

// Those without a glyph in any installed font; none in a build without librsvg, which makes
// neither.
std::u32string without_glyphs(std::u32string_view characters);

// Returns advice for a file of this ending, if there are any.
std::string advice_on_glyphs(std::u32string_view missing, std::string_view ending = ".png");

}  // namespace sextant::pictures

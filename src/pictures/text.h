// Labels without a font engine: cleaning, escaping, measuring, shortening. All strings are UTF-8.
#pragma once

#include <string>
#include <string_view>

#include "core/text/terminal_cells.h"

namespace sextant::pictures {

// Code points of a text. Bytes that are not UTF-8 become U+FFFD, one each.
std::u32string decode(std::string_view utf8);
std::string encode(std::u32string_view text);

// Escapes & < > " ' for XML and HTML text and quoted attributes, removes characters that XML 1.0
// forbids and replaces bytes that are not UTF-8; characters that turn the direction of the
// following text become their names, "U+202E".
std::string escape(std::string_view utf8);

// An upper bound of the width in CSS pixels at font size `size`, in the fonts of kFontFamily: the
// advances of DejaVu Sans, the widest of them, for ASCII; a generous guess by script for the rest.
double text_width(std::string_view utf8, double size, bool bold = false);

// The text, or as much of its beginning as fits into `width` pixels with an ellipsis.
std::string shorten(std::string_view utf8, double size, double width, bool bold = false);

// Returns the label of a token on an axis: the word-start marks of SentencePiece and byte-level BPE
// and spaces at the ends become a middle dot ("▁the" and "Ġthe" -> "·the", "the</w>" -> "the·"),
// line breaks and tabs become arrows, a lone space "␣", an empty token "∅", and characters that
// have no shape or change the direction of writing their names: "U+200B". A mark that would combine
// with the text before the label has a dotted circle.
std::string token_label(std::string_view token);

}  // namespace sextant::pictures

// Holds a finished picture, an SVG text with its size, and saves it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sextant/core/tensor.h"
#include "sextant/pictures/chart_numbers.h"

namespace sextant {

struct Picture {
  std::string svg;   // one complete <svg> element, no external references
  double width = 0;  // CSS pixels
  double height = 0;
  std::string title;        // plain text
  std::string description;  // a sentence that describes it, plain text, for screen readers and alt
  PictureNumbers numbers = {};  // of its charts; empty for a picture without numbers
};

// Saves by the ending of the path: .svg, .png (through librsvg, `scale` pixels per CSS pixel), .pdf
// (through librsvg) or .html (one self-contained page), to a temporary file that is then renamed.
// Throws Error for another ending, as render_png(), and for a file that cannot be written.
void save_picture(const std::string& path, const Picture& picture, double scale = 2);
// Returns a warning about content that a file of this name cannot show, with advice: for a .png or
// .pdf, the characters without glyphs in the installed fonts. Empty: no warning.
std::string picture_warning(const std::string& path, const Picture& picture);
// Returns the bytes of a PNG file. Throws Error for a scale that is not positive, more than 16384
// pixels per side, SVG that cannot be rendered, and in a build without librsvg.
std::string render_png(const Picture& picture, double scale = 2);
// Returns the bytes of a PDF file of one page, with lines and letters as vectors; a CSS pixel is
// 1/96 inch. The bytes are the same for the same picture and fonts. Throws Error as render_png().
std::string render_pdf(const Picture& picture);
bool can_render_png();  // whether this build has librsvg (SEXTANT_PNG), for PNG and PDF

// Stacks pictures under one title, which may be empty. Throws Error for no picture.
Picture stack(std::string_view title, const std::vector<Picture>& pictures);

}  // namespace sextant

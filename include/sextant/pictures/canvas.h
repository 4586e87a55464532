// A finished picture: an SVG text with its size, and ways to save it.
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
  std::string description;  // a sentence on what it shows, plain text, for screen readers and alt
  PictureNumbers numbers = {};  // what its charts draw; none of a picture that draws no numbers
};

// By the ending of the path: .svg, .png (through librsvg, `scale` pixels per CSS pixel), .pdf
// (through librsvg) or .html (one self-contained page). Temporary file, then rename. Throws Error
// for another ending, as render_png(), and for a file that cannot be written.
void save_picture(const std::string& path, const Picture& picture, double scale = 2);
// What a file of this name would not show, and what to do about it: of a .png or .pdf, the
// characters for which no installed font has glyphs. Empty: nothing.
std::string picture_warning(const std::string& path, const Picture& picture);
// The bytes of a PNG file. Throws Error for a scale that is not positive, more than 16384 pixels
// per side, SVG that cannot be rendered, and in a build without librsvg.
std::string render_png(const Picture& picture, double scale = 2);
// The bytes of a PDF file of one page: lines and letters stay such, a CSS pixel is 1/96 inch. The
// same bytes for the same picture and fonts. Throws Error as render_png().
std::string render_pdf(const Picture& picture);
bool can_render_png();  // and PDF: whether this build has librsvg (SEXTANT_PNG)

// Pictures under each other, under one title, which may be empty. Throws Error for no picture.
Picture stack(std::string_view title, const std::vector<Picture>& pictures);

}  // namespace sextant

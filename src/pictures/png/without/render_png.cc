// Replaces SVG to PNG and PDF in a build without librsvg (SEXTANT_PNG=OFF) by an error.
#include "sextant/core/error.h"
#include "sextant/pictures/canvas.h"

namespace sextant {

bool can_render_png() { return false; }

namespace {

[[noreturn]] void refuse(const char* where, const char* kind, const char* command) {
  throw Error(where, std::string("needs librsvg, and this build of sextant is without it "
                                 "(SEXTANT_PNG=OFF); save .svg or .html instead, or make the ") +
                         kind + " of the .svg: rsvg-convert " + command);
}

}  // namespace

std::string render_png(const Picture&, double) {
  refuse("picture.png", "PNG", "-z 2 FILE.svg -o FILE.png");
}

std::string render_pdf(const Picture&) {
  refuse("picture.pdf", "PDF", "-f pdf FILE.svg -o FILE.pdf");
}

}  // namespace sextant

// What SVG to PNG is in a build without librsvg (SEXTANT_PNG=OFF): an error that says so.
#include "sextant/core/error.h"
#include "sextant/pictures/canvas.h"

namespace sextant {

bool can_render_png() { return false; }

std::string render_png(const Picture&, double) {
  throw Error(
      "picture.png",
      "needs librsvg, and this build of sextant is without it (SEXTANT_PNG=OFF); save .svg "
      "or .html instead, or make the PNG of the .svg: rsvg-convert -z 2 FILE.svg -o FILE.png");
}

}  // namespace sextant

// How far a picture may shrink in a page.
#include "pictures/readable_width.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "pictures/drawing.h"
#include "sextant/core/numbers.h"

namespace sextant::pictures {

int readable_width(const Picture& picture) {
  constexpr std::string_view kSize = " font-size=\"";
  double smallest = 0;
  const std::string_view svg = picture.svg;
  for (std::size_t at = svg.find(kSize); at != svg.npos; at = svg.find(kSize, at)) {
    at += kSize.size();
    const double size = parse_double(svg.substr(at, svg.find('"', at) - at), "svg.font-size");
    smallest = smallest == 0 ? size : std::min(smallest, size);
  }
  return smallest > 0 ? static_cast<int>(std::ceil(picture.width * kSmallestText / smallest)) : 0;
}

}  // namespace sextant::pictures

// Images of a picture at the pixels of the screen or file that it is rendered to.
#pragma once

#include <string>
#include <string_view>

namespace sextant::pictures {

// Returns the SVG with each of its images enlarged, without smoothing, to as many pixels as it
// covers at `scale`: librsvg smooths every image, and would mix the colours of neighbouring cells
// into some that are not on the scale. Larger images are unchanged.
std::string with_sharp_images(std::string_view svg, double scale);

}  // namespace sextant::pictures

// How far a picture may shrink in a page.
#pragma once

#include "sextant/pictures/canvas.h"

namespace sextant::pictures {

// The width in CSS pixels at which the smallest text of `picture` is 10 pixels high, rounded up;
// 0 for a picture without text.
int readable_width(const Picture& picture);

}  // namespace sextant::pictures

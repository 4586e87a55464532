// Colours of text, axes, paper and series on a dark screen. Cells of maps keep their colours: a
// scale means the same everywhere.
#pragma once

#include <string>
#include <string_view>

namespace sextant::pictures {

// The rules for the colours that `elements` have, as a <style> element: on dark screens only, so
// that paper and programs without media queries get the light ones. They concern pictures only, and
// those of all pictures on a page agree.
std::string dark_style(std::string_view elements);

}  // namespace sextant::pictures

#include "pictures/dark.h"

#include "pictures/drawing.h"

namespace sextant::pictures {
namespace {

struct Pair {
  std::string_view light, dark;
};

// Text has a contrast of at least 4.5 to the dark paper, lines and marks of 3. Colours of the
// series that are not listed have enough contrast on both.
constexpr Pair kPairs[] = {
    {kPaper, "#14181d"},    {kInk, "#e3e7eb"},      {kMuted, "#a5b0bb"},    {kAxis, "#6b7682"},
    {kGrid, "#2b333c"},     {"#0072b2", "#4aa3df"}, {"#d55e00", "#f0813a"}, {"#009e73", "#2cc295"},
    {"#b8579a", "#dd86c3"}, {"#56b4e9", "#9bd3f5"}, {"#4d4d4d", "#c9c9c9"}, {"#8c6d1f", "#c09b47"},
    {"#003f66", "#3386bd"}, {"#8a2c00", "#cf6b40"}, {"#7a5200", "#ad7f2f"}, {"#1d7fb8", "#6fb6e0"}};

}  // namespace

std::string dark_style(std::string_view elements) {
  std::string rules;
  for (const auto& [light, dark] : kPairs) {
    for (const char* name : {"fill", "stroke"}) {
      const std::string attribute = std::string(name) + "=\"" + std::string(light) + "\"";
      if (elements.find(attribute) == std::string_view::npos) continue;
      rules += "svg[role=img] [" + attribute + "]{" + name + ":" + std::string(dark) + "}\n";
    }
  }
  return "<style>@media screen and (prefers-color-scheme:dark){\n" + rules + "}</style>\n";
}

}  // namespace sextant::pictures

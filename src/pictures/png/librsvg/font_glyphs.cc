// Finds characters that no installed font has: librsvg draws with the fonts of fontconfig.
#include <fontconfig/fontconfig.h>

#include "pictures/png/librsvg/owned.h"
#include "pictures/png/missing_glyphs.h"

namespace sextant::pictures {

std::u32string without_glyphs(std::u32string_view characters) {
  const Owned<FcPattern, FcPatternDestroy> all(FcPatternCreate());
  const Owned<FcObjectSet, FcObjectSetDestroy> wanted(FcObjectSetBuild(FC_CHARSET, nullptr));
  const Owned<FcFontSet, FcFontSetDestroy> fonts(FcFontList(nullptr, all.get(), wanted.get()));
  std::u32string missing(characters);
  for (int i = 0; fonts != nullptr && i < fonts->nfont && !missing.empty(); ++i) {
    FcCharSet* has = nullptr;
    if (FcPatternGetCharSet(fonts->fonts[i], FC_CHARSET, 0, &has) != FcResultMatch) continue;
    std::erase_if(missing, [&](char32_t c) { return FcCharSetHasChar(has, c) != FcFalse; });
  }
  return missing;
}

}  // namespace sextant::pictures

// Which characters a picture shows, and which Debian package has a font for them.
#include "pictures/png/missing_glyphs.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "core/text/strings.h"
#include "pictures/text.h"

namespace sextant::pictures {
namespace {

struct Block {
  char32_t first, last;
  const char* package;  // null: none
};

// First to last; characters between the blocks are in fonts-noto-core, if anywhere.
constexpr Block kBlocks[] = {
    {0x1100, 0x11FF, "fonts-noto-cjk"},  // Hangul
    {0x231A, 0x23FF, "fonts-noto-color-emoji"}, {0x2600, 0x27BF, "fonts-noto-color-emoji"},
    {0x2E80, 0x9FFF, "fonts-noto-cjk"},         {0xA960, 0xA97F, "fonts-noto-cjk"},
    {0xAC00, 0xD7FF, "fonts-noto-cjk"},         {0xE000, 0xF8FF, nullptr},  // for private use
    {0xF900, 0xFAFF, "fonts-noto-cjk"},         {0xFE30, 0xFE4F, "fonts-noto-cjk"},
    {0xFF00, 0xFFEF, "fonts-noto-cjk"},         {0x1F000, 0x1FAFF, "fonts-noto-color-emoji"},
    {0x20000, 0x3FFFF, "fonts-noto-cjk"},       {0xF0000, 0x10FFFF, nullptr},
};

const char* package_of(char32_t c) {
  for (const Block& block : kBlocks) {
    if (c >= block.first && c <= block.last) return block.package;
  }
  return "fonts-noto-core";
}

// Returns whether a character is visible: no control, joiner, mark of direction or selector of a
// variant.
bool is_drawn(char32_t c) {
  constexpr std::pair<char32_t, char32_t> kUndrawn[] = {
      {0, 0x20},        {0x7F, 0xA0},     {0xAD, 0xAD},     {0x2000, 0x200F}, {0x2028, 0x202F},
      {0x205F, 0x206F}, {0x3000, 0x3000}, {0xFE00, 0xFE0F}, {0xFEFF, 0xFEFF}, {0xE0000, 0xE0FFF}};
  return std::ranges::none_of(
      kUndrawn, [&](const auto& range) { return c >= range.first && c <= range.second; });
}

}  // namespace

std::u32string characters_of(std::string_view svg) {
  std::u32string found;
  bool shown = true;  // text in a title, a description or a style sheet is not
  while (!svg.empty()) {
    const std::size_t tag = std::min(svg.find('<'), svg.size());
    if (shown) {
      const std::u32string text = decode(svg.substr(0, tag));
      std::copy_if(text.begin(), text.end(), std::back_inserter(found), is_drawn);
    }
    svg.remove_prefix(tag);
    shown = !(svg.starts_with("<title") || svg.starts_with("<desc") || svg.starts_with("<style"));
    const std::size_t end = svg.find('>');
    svg.remove_prefix(end == svg.npos ? svg.size() : end + 1);
  }
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::string advice_on_glyphs(std::u32string_view missing, std::string_view ending) {
  if (missing.empty()) return "";
  constexpr std::size_t kShown = 8;
  std::vector<std::string> packages;
  for (const char32_t c : missing) {
    const char* package = package_of(c);
    if (package != nullptr && std::ranges::find(packages, package) == packages.end()) {
      packages.emplace_back(package);
    }
  }
  const std::string install = joined(packages, " ");
  return "no installed font has glyphs for " + encode(missing.substr(0, kShown)) +
         (missing.size() > kShown ? " and others" : "") + ", which a " + std::string(ending) +
         " shows as boxes: " +
         (install.empty() ? "" : "install a font that has them (Debian: " + install + "), or ") +
         "save as .svg";
}

}  // namespace sextant::pictures

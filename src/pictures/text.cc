// Labels without a font engine.
#include "pictures/text.h"

#include <array>

#include "core/text/character_names.h"
#include "core/text/terminal_cells.h"
#include "core/text/utf8.h"

namespace sextant::pictures {
namespace {

// Advance widths of DejaVu Sans for U+0020 .. U+007E, in thousandths of the font size.
constexpr std::array<short, 95> kAscii = {
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361,  318, 337, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632,
    575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635,  611, 732, 684, 989, 685,
    611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352,  635, 634, 278, 278, 579,
    278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592,  525, 636, 337, 636, 838};

// Bold text is set wider; the largest ratio over words, not over single letters.
constexpr double kBold = 1.16;

bool within(char32_t c, char32_t first, char32_t last) { return c >= first && c <= last; }

double em(char32_t c) {
  if (within(c, 0x20, 0x7e)) return kAscii[c - 0x20] / 1000.0;
  if (combines(c)) return 0;
  if (within(c, 0x1f300, 0x1faff)) return 1.4;
  if (is_wide(c)) return 1.02;
  if (c == U'·') return 0.32;
  if (within(c, 0xa1, 0x24f) || within(c, 0x590, 0x6ff)) return 0.72;
  return within(c, 0x370, 0x52f) ? 0.8 : 1;
}

// Returns whether XML 1.0 may contain a character, without the control characters of Latin-1, which
// it discourages.
bool allowed(char32_t c) {
  if (c < 0x20) return c == '\t' || c == '\n' || c == '\r';
  return !within(c, 0x7f, 0x9f) && c != 0xfffe && c != 0xffff;
}

}  // namespace

std::u32string decode(std::string_view utf8) {
  std::u32string text;
  while (!utf8.empty()) {
    const Utf8Character next = first_character(utf8);
    text += next.valid ? static_cast<char32_t>(next.code) : U'\ufffd';
    utf8.remove_prefix(next.bytes);
  }
  return text;
}

std::string encode(std::u32string_view text) {
  std::string utf8;
  const auto put = [&](char32_t byte) { utf8 += static_cast<char>(byte); };
  for (const char32_t c : text) {
    if (c < 0x80) {
      put(c);
    } else if (c < 0x800) {
      put(0xc0 | c >> 6), put(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
      put(0xe0 | c >> 12), put(0x80 | (c >> 6 & 0x3f)), put(0x80 | (c & 0x3f));
    } else {
      put(0xf0 | c >> 18), put(0x80 | (c >> 12 & 0x3f));
      put(0x80 | (c >> 6 & 0x3f)), put(0x80 | (c & 0x3f));
    }
  }
  return utf8;
}

std::string escape(std::string_view utf8) {
  std::string out;
  for (const char32_t c : decode(utf8)) {
    if (!allowed(c)) continue;
    if (turns_direction(c)) {
      out += code_name(c);
      continue;
    }
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += encode({&c, 1});
    }
  }
  return out;
}

double text_width(std::string_view utf8, double size, bool bold) {
  double width = 0;
  for (const char32_t c : decode(utf8)) {
    if (allowed(c)) width += em(c);
  }
  return width * size * (bold ? kBold : 1);
}

std::string shorten(std::string_view utf8, double size, double width, bool bold) {
  if (text_width(utf8, size, bold) <= width) return std::string(utf8);
  const double scale = size * (bold ? kBold : 1);
  const std::u32string text = decode(utf8);
  double used = em(U'…') * scale;
  std::size_t kept = 0;
  while (kept < text.size() && used + em(text[kept]) * scale <= width) {
    used += em(text[kept++]) * scale;
  }
  while (kept > 0 && text[kept - 1] == ' ') --kept;
  return encode(text.substr(0, kept)) + "…";
}

std::string token_label(std::string_view token) {
  std::u32string text = decode(token);
  constexpr std::u32string_view kEnd = U"</w>";
  if (text.size() > kEnd.size() && text.ends_with(kEnd)) {
    text.erase(text.size() - kEnd.size());
    text += U'·';
  }
  std::u32string label;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char32_t c = text[i];
    const bool at_end = i == 0 || i + 1 == text.size();
    if (c == U'▁' || (c == U'Ġ' && i == 0) || (c == ' ' && at_end)) {
      label += U'·';
    } else if (c == '\n' || c == '\r' || (c == U'Ċ' && text.size() == 1)) {
      label += U'↵';
    } else if (c == '\t') {
      label += U'⇥';
    } else if (is_printable(c) || (joins(c) && text.size() > 1)) {
      if (i == 0 && combines(c)) label += U'◌';
      label += c;
    } else {
      label += decode(code_name(c));
    }
  }
  if (label == U"·") return "␣";  // not to be taken for a full stop
  return label.empty() ? "∅" : encode(label);
}

}  // namespace sextant::pictures

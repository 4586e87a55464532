// Saving a picture, and pictures under each other.
#include "sextant/pictures/canvas.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "pictures/describe.h"
#include "pictures/drawing.h"
#include "pictures/png/missing_glyphs.h"
#include "pictures/text.h"
#include "sextant/core/files.h"
#include "sextant/pictures/page.h"

namespace sextant {

using namespace pictures;

namespace {

constexpr std::string_view kOpening = "<svg ";

std::string ending_of(const std::string& path) {
  const std::size_t dot = path.find_last_of('.');
  const std::size_t slash = path.find_last_of('/');
  if (dot == std::string::npos || (slash != std::string::npos && dot < slash)) return "";
  std::string ending = path.substr(dot);
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending;
}

}  // namespace

void save_picture(const std::string& path, const Picture& picture, double scale) {
  const std::string ending = ending_of(path);
  if (ending == ".svg") {
    write_file(path, picture.svg);
  } else if (ending == ".png") {
    write_file(path, render_png(picture, scale));
  } else if (ending == ".pdf") {
    write_file(path, render_pdf(picture));
  } else if (ending == ".html" || ending == ".htm") {
    Page page(picture.title.empty() ? "Picture" : picture.title);
    page.picture(picture, "");
    write_file(path, page.html());
  } else {
    throw Error("picture.path", "must end in .svg, .png, .pdf or .html, got '" + path + "'");
  }
}

std::string picture_warning(const std::string& path, const Picture& picture) {
  const std::string ending = ending_of(path);
  if (ending != ".png" && ending != ".pdf") return "";
  return advice_on_glyphs(without_glyphs(characters_of(picture.svg)), ending);
}

Picture stack(std::string_view title, const std::vector<Picture>& pictures) {
  if (pictures.empty()) throw Error("stack.pictures", "must not be empty");
  double width = title.empty() ? 0 : title_width(title) + 2 * kMargin;
  for (const Picture& picture : pictures) width = std::max(width, picture.width);
  Drawing drawing;
  std::string parts, description;
  PictureNumbers numbers;
  double y = title.empty() ? 0 : draw_title(drawing, title, kMargin, kMargin, width - 2 * kMargin);
  for (const Picture& picture : pictures) {
    if (!picture.svg.starts_with(kOpening)) {
      throw Error("stack.pictures", "must each be one <svg> element");
    }
    parts += "<svg x=\"0\" y=\"" + number(y) + "\" " +
             with_own_ids(picture.svg, parts).substr(kOpening.size());
    description += (description.empty() ? "" : " ") + picture.description;
    numbers.insert(numbers.end(), picture.numbers.begin(), picture.numbers.end());
    y += picture.height;
  }
  drawing.raw(parts);
  Picture stacked = drawing.finish(width, y, title, description);
  stacked.numbers = std::move(numbers);
  return stacked;
}

}  // namespace sextant

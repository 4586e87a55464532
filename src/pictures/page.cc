// One self-contained HTML page.
#include "sextant/pictures/page.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "core/files/embedded_text.h"
#include "core/text/base64.h"
#include "pictures/describe.h"
#include "pictures/drawing.h"
#include "pictures/page_files.h"
#include "pictures/text.h"
#include "sextant/core/numbers.h"

namespace sextant {
namespace {

// A picture of this width, in CSS pixels, is made for a phone: it shrinks on a narrower one.
constexpr int kPhone = 360;

// Something a column of numbers may hold: digits with signs, points, exponents, per cent; or a
// dash.
bool is_number(std::string_view cell) {
  if (cell == "-" || cell == "–" || cell == "nan" || cell == "inf" || cell == "-inf") return true;
  return cell.find_first_of("0123456789") != std::string_view::npos &&
         cell.find_first_not_of("0123456789+-.,eE%") == std::string_view::npos;
}

bool is_number_column(const std::vector<std::vector<std::string>>& rows, std::size_t column) {
  bool any = false;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (column >= rows[i].size() || rows[i][column].empty()) continue;
    if (!is_number(rows[i][column])) return false;
    any = true;
  }
  return any;
}

// The width in CSS pixels at which the smallest text of `picture` is 10 pixels high, rounded up;
// 0 for a picture without text, and for one that suits a phone.
int readable_width(const Picture& picture) {
  constexpr std::string_view kSize = " font-size=\"";
  double smallest = 0;
  const std::string_view svg = picture.svg;
  for (std::size_t at = svg.find(kSize); at != svg.npos; at = svg.find(kSize, at)) {
    at += kSize.size();
    const double size = parse_double(svg.substr(at, svg.find('"', at) - at), "svg.font-size");
    smallest = smallest == 0 ? size : std::min(smallest, size);
  }
  const double width =
      smallest > 0 ? std::ceil(picture.width * pictures::kSmallestText / smallest) : 0;
  return width > kPhone ? static_cast<int>(width) : 0;
}

// Columns of pages from which a wide picture is shown differ by this, in CSS pixels.
constexpr int kStep = 50;
constexpr int kBorders = 2;

// The rules that show narrow pictures in a narrower column.
std::string rules_of(const std::set<int>& from) {
  std::string rules;
  for (const int width : from) {
    const std::string at = ".from-" + std::to_string(width) + " > .on-";
    rules += "@media screen { @container (width < " + std::to_string(width) + "px) { " + at +
             "wide { display: none; } " + at + "narrow { display: block; } } }\n";
  }
  return rules;
}

std::string size_text(std::size_t bytes) {
  if (bytes < 1000) return std::to_string(bytes) + " bytes";
  if (bytes < 1000000) return std::to_string((bytes + 500) / 1000) + " kB";
  return std::to_string((bytes + 500000) / 1000000) + " MB";
}

std::string anchor_of(std::size_t section) { return "section-" + std::to_string(section); }

}  // namespace

std::string escape_html(std::string_view text) { return pictures::escape(text); }

Page::Page(std::string title, std::string subtitle)
    : title_(std::move(title)), subtitle_(std::move(subtitle)) {}

void Page::section(std::string_view heading) {
  sections_.emplace_back(heading);
  body_ += "<h2 id=\"" + anchor_of(sections_.size()) + "\">" + escape_html(heading) + "</h2>\n";
}

void Page::fold(std::string_view summary) {
  body_ += "<details><summary>" + escape_html(summary) + "</summary>\n";
}

void Page::unfold() { body_ += "</details>\n"; }

void Page::contents() { contents_at_ = body_.size(); }

void Page::insert(std::string_view html) { body_ += html; }

void Page::insert_head(std::string_view html) { head_ += html; }

void Page::paragraph(std::string_view text) { body_ += "<p>" + escape_html(text) + "</p>\n"; }

void Page::code(std::string_view text) {
  body_ += "<pre><code>" + escape_html(text) + "</code></pre>\n";
}

void Page::table(const std::vector<std::vector<std::string>>& rows) {
  if (rows.empty()) throw Error("page.table.rows", "must have a header");
  std::vector<bool> numbers;
  for (std::size_t j = 0; j < rows[0].size(); ++j) numbers.push_back(is_number_column(rows, j));
  body_ += "<div class=\"wide\"><table>\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string tag = i == 0 ? "th" : "td";
    body_ += i == 0 ? "<thead><tr>" : "<tr>";
    for (std::size_t j = 0; j < rows[i].size(); ++j) {
      body_ += "<" + tag + (i == 0 ? " scope=\"col\"" : "") +
               (j < numbers.size() && numbers[j] ? " class=\"number\">" : ">") +
               escape_html(rows[i][j]) + "</" + tag + ">";
    }
    body_ += i == 0 ? "</tr></thead>\n<tbody>\n" : "</tr>\n";
  }
  body_ += "</tbody></table></div>\n";
}

void Page::picture(const Picture& picture, std::string_view caption) {
  body_ += "<figure>";
  add_picture(picture, "picture");
  add_caption(caption);
}

void Page::picture(const Picture& picture, const Picture& narrow, std::string_view caption) {
  const int from = (readable_width(picture) + kBorders + kStep - 1) / kStep * kStep;
  from_.insert(from);
  body_ += "<figure class=\"from-" + std::to_string(from) + "\">";
  add_picture(picture, "picture on-wide");
  add_picture(narrow, "picture on-narrow");
  add_caption(caption);
}

void Page::add_picture(const Picture& picture, std::string_view classes) {
  constexpr std::string_view kOpening = "<svg ";
  if (!picture.svg.starts_with(kOpening)) {
    throw Error("page.picture.svg", "must be one <svg> element");
  }
  const int width = readable_width(picture);
  body_ += "<div class=\"" + std::string(classes) +
           "\" style=\"--readable:" + std::to_string(width) + "px\"><div class=\"wide\"><svg ";
  body_ += pictures::with_own_ids(picture.svg, body_).substr(kOpening.size()) + "</div>";
  if (width > 0) body_ += "<p class=\"scrolls\">The picture scrolls sideways.</p>";
  body_ += "</div>";
}

void Page::add_caption(std::string_view caption) {
  if (!caption.empty()) body_ += "<figcaption>" + escape_html(caption) + "</figcaption>";
  body_ += "</figure>\n";
}

void Page::verdict(bool good, std::string_view text) {
  body_ += std::string("<p class=\"verdict ") + (good ? "good" : "bad") + "\">" +
           escape_html(text) + "</p>\n";
}

void Page::data(std::string_view name, std::string_view json) {
  std::string file(name);
  if (!file.ends_with(".json")) file += ".json";
  body_ += "<p><a download=\"" + escape_html(file) + "\" href=\"data:application/json;base64," +
           to_base64(json) + "\">Download " + escape_html(file) + "</a> (" +
           size_text(json.size()) + ")</p>\n";
}

std::string Page::html() const {
  std::string page =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
      escape_html(title_) + "</title>\n<style>\n" + embedded_text(kPageCss) + rules_of(from_) +
      "</style>\n" + head_ + "</head>\n<body>\n<main>\n<header>\n<h1>" + escape_html(title_) +
      "</h1>\n";
  if (!subtitle_.empty()) page += "<p class=\"subtitle\">" + escape_html(subtitle_) + "</p>\n";
  page += "</header>\n" + body_.substr(0, contents_at_);
  if (sections_.size() > 2) {
    page += "<nav aria-label=\"Contents\"><ol>\n";
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      page +=
          "<li><a href=\"#" + anchor_of(i + 1) + "\">" + escape_html(sections_[i]) + "</a></li>\n";
    }
    page += "</ol></nav>\n";
  }
  return page + body_.substr(contents_at_) + "</main>\n</body>\n</html>\n";
}

}  // namespace sextant

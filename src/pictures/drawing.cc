// Pen and paper.
#include "pictures/drawing.h"

#include <algorithm>

#include "core/text/base64.h"
#include "pictures/dark.h"
#include "pictures/png/pixels.h"
#include "pictures/text.h"
#include "sextant/core/numbers.h"

namespace sextant::pictures {
namespace {

// Half the height of a digit: from the vertical middle of a line of text to its baseline.
constexpr double kMiddle = 0.36;

std::string attribute(std::string_view name, double value) {
  return " " + std::string(name) + "=\"" + number(value) + "\"";
}
std::string attribute(std::string_view name, std::string_view value) {
  return " " + std::string(name) + "=\"" + std::string(value) + "\"";
}
// Fowler, Noll and Vo's hash (FNV-1a), 32 bits.
std::string hash_text(std::string_view text) {
  std::uint32_t hash = 2166136261u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return std::to_string(hash);
}
std::string attributes_of(const TextStyle& style) {
  std::string text = attribute("font-size", style.size) + attribute("fill", style.color);
  if (style.anchor != Anchor::start) {
    text += attribute("text-anchor", style.anchor == Anchor::middle ? "middle" : "end");
  }
  if (style.bold) text += attribute("font-weight", "600");
  return text;
}
std::string title_element(std::string_view tooltip) {
  return tooltip.empty() ? "" : "<title>" + escape(tooltip) + "</title>";
}

}  // namespace

std::string number(double value) {
  std::string text = fixed(value, 2);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

void Drawing::line(double x1, double y1, double x2, double y2, std::string_view color,
                   double width) {
  lines({{x1, y1, x2, y2}}, color, width);
}

void Drawing::lines(const std::vector<Segment>& segments, std::string_view color, double width) {
  std::string d;
  for (const Segment& line : segments) {
    d += "M" + number(line.x1) + " " + number(line.y1) + "L" + number(line.x2) + " " +
         number(line.y2);
  }
  if (d.empty()) return;
  body_ += "<path" + attribute("d", d) + attribute("stroke", color) +
           attribute("stroke-width", width) + "/>\n";
}

void Drawing::rect(double x, double y, double width, double height, std::string_view fill,
                   std::string_view tooltip) {
  body_ += "<rect" + attribute("x", x) + attribute("y", y) + attribute("width", width) +
           attribute("height", height) + attribute("fill", fill);
  body_ += tooltip.empty() ? "/>\n" : ">" + title_element(tooltip) + "</rect>\n";
}

void Drawing::square(std::int64_t x, std::int64_t y, std::string_view fill,
                     std::string_view tooltip) {
  body_ += "<path d=\"M" + std::to_string(x) + " " + std::to_string(y) + "h1v1h-1z\"" +
           attribute("fill", fill) + ">" + title_element(tooltip) + "</path>\n";
}

void Drawing::circle(double x, double y, double radius, std::string_view fill,
                     std::string_view tooltip) {
  body_ += "<circle" + attribute("cx", x) + attribute("cy", y) + attribute("r", radius) +
           attribute("fill", fill);
  body_ += tooltip.empty() ? "/>\n" : ">" + title_element(tooltip) + "</circle>\n";
}

void Drawing::path(std::string_view d, std::string_view stroke, double width,
                   std::string_view attributes) {
  body_ += "<path" + attribute("d", d) + attribute("fill", "none") + attribute("stroke", stroke) +
           attribute("stroke-width", width);
  if (!attributes.empty()) body_ += " " + std::string(attributes);
  body_ += "/>\n";
}

void Drawing::area(std::string_view d, std::string_view fill, double opacity) {
  body_ += "<path" + attribute("d", d) + attribute("fill", fill) +
           attribute("fill-opacity", opacity) + "/>\n";
}

void Drawing::image(double x, double y, double width, double height, std::string_view png,
                    bool crisp) {
  body_ += "<image" + attribute("x", x) + attribute("y", y) + attribute("width", width) +
           attribute("height", height) + " preserveAspectRatio=\"none\"";
  if (crisp) body_ += " image-rendering=\"pixelated\"";
  body_ += " href=\"data:image/png;base64," + to_base64(png) + "\"/>\n";
}

void Drawing::text(double x, double y, std::string_view words, const TextStyle& style) {
  if (words.empty()) return;
  const double drop = kMiddle * (around_ ? around_->size : style.size);
  body_ += "<text";
  if (style.angle == 0) {
    body_ += attribute("x", x) + attribute("y", y + drop);
  } else {
    body_ += " transform=\"translate(" + number(x) + " " + number(y) + ") rotate(" +
             number(style.angle) + ")\"" + attribute("y", drop);
  }
  if (!around_) body_ += attributes_of(style);
  body_ += ">" + escape(words) + title_element(style.tooltip) + "</text>\n";
}

void Drawing::open(std::string_view attributes) {
  body_ += "<g " + std::string(attributes) + ">\n";
}

void Drawing::open_texts(const TextStyle& style, std::string_view attributes) {
  body_ += "<g" + attributes_of(style) + (attributes.empty() ? "" : " ") + std::string(attributes) +
           ">\n";
  around_ = style;
}

void Drawing::close() {
  body_ += "</g>\n";
  around_.reset();
}

void Drawing::raw(std::string_view elements) { body_ += elements; }

Picture Drawing::finish(double width, double height, std::string_view title,
                        std::string_view description) {
  if (description.empty()) description = title;
  // with_own_ids() tells pictures apart that say the same.
  const std::string id = "p" + hash_text(std::string(title) + "\n" + std::string(description));
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\"" + attribute("width", width) +
                    attribute("height", height) + " viewBox=\"0 0 " + number(width) + " " +
                    number(height) + "\"" + attribute("font-family", kFontFamily) +
                    " direction=\"ltr\" role=\"img\" aria-labelledby=\"";
  svg += title.empty() ? "" : id + "-t ";
  svg += id + "-d\">\n";
  if (!title.empty()) svg += "<title id=\"" + id + "-t\">" + escape(title) + "</title>\n";
  svg += "<desc id=\"" + id + "-d\">" + escape(description) + "</desc>\n" +
         dark_style(attribute("fill", kPaper) + body_) + "<rect" + attribute("width", width) +
         attribute("height", height) + attribute("fill", kPaper) + "/>\n" + body_ + "</svg>\n";
  return {.svg = std::move(svg),
          .width = width,
          .height = height,
          .title = std::string(title),
          .description = std::string(description)};
}

namespace {
constexpr double kTitlePitch = 1.35;  // from one line to the next, in font sizes
}

double title_width(std::string_view title) {
  constexpr double kWidest = 620;
  return std::min(kWidest, text_width(title, kTitleSize, true));
}

double draw_title(Drawing& drawing, std::string_view title, double left, double top, double width) {
  constexpr int kLines = 3;
  if (title.empty()) return top;
  std::string_view rest = title;
  for (int line = 1; !rest.empty(); ++line) {
    // As many words as fit; a word that does not fit alone is cut.
    std::size_t end = rest.size();
    while (line < kLines && text_width(rest.substr(0, end), kTitleSize, true) > width) {
      const std::size_t space = rest.substr(0, end).find_last_of(' ');
      if (space == std::string_view::npos || space == 0) break;
      end = space;
    }
    const std::string_view words = rest.substr(0, end);
    const std::string shown = shorten(words, kTitleSize, width, true);
    drawing.text(left, top + kTitleSize * 0.6, shown,
                 {.size = kTitleSize, .bold = true, .tooltip = shown == words ? "" : title});
    rest.remove_prefix(std::min(rest.size(), end + 1));
    top += rest.empty() ? kTitleSize + 15 : kTitleSize * kTitlePitch;
  }
  return top;
}

}  // namespace sextant::pictures

// A strict little XML reader for the tests: refuses what is not well-formed, and finds the boxes of
// all text of an SVG.
#pragma once

#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numbers>
#include <stdexcept>
#include <string>
#include <vector>

#include "pictures/text.h"

namespace sextant::testing {

struct Element {
  std::string name, text;  // text without that of children
  std::map<std::string, std::string> attributes;
  std::vector<Element> children;

  double number(const std::string& key, double otherwise = 0) const {
    const auto found = attributes.find(key);
    return found == attributes.end() ? otherwise : std::strtod(found->second.c_str(), nullptr);
  }
};

class XmlReader {
 public:
  explicit XmlReader(std::string text) : text_(std::move(text)) {}

  Element read() {
    Element root = element();
    spaces();
    if (at_ != text_.size()) fail("something after the end");
    return root;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(what + " at byte " + std::to_string(at_) + ": " +
                             text_.substr(at_, 40));
  }
  bool next(std::string_view token) {
    if (text_.compare(at_, token.size(), token) != 0) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!next(token)) fail("expected " + std::string(token));
  }
  void spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  std::string name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                                  text_[at_] == '-' || text_[at_] == ':')) {
      ++at_;
    }
    if (begin == at_) fail("expected a name");
    return text_.substr(begin, at_ - begin);
  }
  // Characters up to `end`, entities replaced.
  std::string characters(char end) {
    std::string value;
    while (at_ < text_.size() && text_[at_] != end) {
      const auto c = static_cast<unsigned char>(text_[at_]);
      if (c == '<') fail("a bare <");
      if (c < 0x20 && c != '\n' && c != '\t' && c != '\r') fail("a control character");
      if (c != '&') {
        value += text_[at_++];
      } else if (next("&amp;")) {
        value += '&';
      } else if (next("&lt;")) {
        value += '<';
      } else if (next("&gt;")) {
        value += '>';
      } else if (next("&quot;")) {
        value += '"';
      } else if (next("&#39;")) {
        value += '\'';
      } else {
        fail("a bare &");
      }
    }
    if (at_ == text_.size()) fail("unexpected end");
    return value;
  }
  Element element() {
    Element element;
    expect("<");
    element.name = name();
    while (true) {
      const std::size_t before = at_;
      spaces();
      if (next("/>")) return element;
      if (next(">")) break;
      if (at_ == before) fail("expected a space");
      const std::string key = name();
      expect("=\"");
      if (!element.attributes.emplace(key, characters('"')).second) fail("an attribute twice");
      expect("\"");
    }
    while (true) {
      element.text += characters('<');
      if (next("</")) break;
      element.children.push_back(this->element());
    }
    expect(element.name);
    expect(">");
    return element;
  }

  std::string text_;
  std::size_t at_ = 0;
};

inline Element read_xml(const std::string& text) { return XmlReader(text).read(); }

template <class Visit>
void for_each(const Element& element, const Visit& visit) {
  visit(element);
  for (const Element& child : element.children) for_each(child, visit);
}

inline std::vector<Element> all(const Element& root, const std::string& name) {
  std::vector<Element> found;
  for_each(root, [&](const Element& element) {
    if (element.name == name) found.push_back(element);
  });
  return found;
}

// The corners of one label, in order around it.
struct LabelBox {
  std::string text;
  std::array<std::array<double, 2>, 4> corners;
};

inline LabelBox box_of(const Element& text) {
  const double size = text.number("font-size");
  const double width =
      pictures::text_width(text.text, size, text.attributes.count("font-weight") != 0);
  const auto anchor = text.attributes.find("text-anchor");
  double left = text.number("x");
  if (anchor != text.attributes.end()) left -= anchor->second == "end" ? width : width / 2;
  const double baseline = text.number("y");
  // Capital height and descent of DejaVu Sans.
  const double top = baseline - 0.73 * size, bottom = baseline + 0.24 * size;
  double x = 0, y = 0, angle = 0;
  if (const auto transform = text.attributes.find("transform");
      transform != text.attributes.end()) {
    if (std::sscanf(transform->second.c_str(), "translate(%lf %lf) rotate(%lf)", &x, &y, &angle) !=
        3) {
      throw std::runtime_error("unknown transform " + transform->second);
    }
  }
  const double c = std::cos(angle * std::numbers::pi / 180);
  const double s = std::sin(angle * std::numbers::pi / 180);
  const auto rotated = [&](double u, double v) {
    return std::array<double, 2>{x + u * c - v * s, y + u * s + v * c};
  };
  return {text.text,
          {rotated(left, top), rotated(left + width, top), rotated(left + width, bottom),
           rotated(left, bottom)}};
}

// Texts of a group take its style.
inline void add_label_boxes(Element element, std::vector<LabelBox>& boxes) {
  if (element.name == "text") boxes.push_back(box_of(element));
  for (Element& child : element.children) {
    for (const char* name : {"font-size", "font-weight", "text-anchor"}) {
      if (const auto it = element.attributes.find(name); it != element.attributes.end()) {
        child.attributes.emplace(name, it->second);
      }
    }
    add_label_boxes(std::move(child), boxes);
  }
}

inline std::vector<LabelBox> label_boxes(const Element& root) {
  std::vector<LabelBox> boxes;
  add_label_boxes(root, boxes);
  return boxes;
}

// Two rotated rectangles are apart when a side of one of them separates them. They may touch within
// the rounding of coordinates.
inline bool overlap(const LabelBox& a, const LabelBox& b) {
  constexpr double kTouch = 0.05;
  const auto separates = [&](const LabelBox& from) {
    for (int side = 0; side < 2; ++side) {
      const double nx = from.corners[side + 1][1] - from.corners[side][1];
      const double ny = from.corners[side][0] - from.corners[side + 1][0];
      const double length = std::hypot(nx, ny);
      if (length == 0) return true;
      double low[2] = {1e300, 1e300}, high[2] = {-1e300, -1e300};
      for (int i = 0; i < 4; ++i) {
        const double p = (a.corners[i][0] * nx + a.corners[i][1] * ny) / length;
        const double q = (b.corners[i][0] * nx + b.corners[i][1] * ny) / length;
        low[0] = std::min(low[0], p), high[0] = std::max(high[0], p);
        low[1] = std::min(low[1], q), high[1] = std::max(high[1], q);
      }
      if (high[0] <= low[1] + kTouch || high[1] <= low[0] + kTouch) return true;
    }
    return false;
  };
  return !separates(a) && !separates(b);
}

}  // namespace sextant::testing

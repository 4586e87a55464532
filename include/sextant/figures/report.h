// Makes the report, one page about a text, from its words to attention and the exactness of the
// tables.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "sextant/pictures/canvas.h"

namespace sextant::figures {

struct ReportPicture {
  int section = 0;      // number of the section, from 1
  std::string heading;  // heading of the section
  const Picture& picture;
};

// Saves pictures in a folder, which it makes: each as .svg and as .png of 1920 pixels' width, for
// slides, "3-columns-of-sinusoidal-positions": the section and what the picture shows.
class ReportFolder {
 public:
  // Throws Error naming report.pictures where the folder cannot be made.
  explicit ReportFolder(std::string folder);
  // Throws Error as save_picture(), and so in a build without librsvg.
  void save(const ReportPicture& made);

 private:
  std::string folder_;
  std::map<std::string, int> names_;  // how many pictures have each
};

struct ReportOptions {
  // Two words of the text to compare; they are swapped if both are in the drawn sentences. Unset:
  // two words of these sentences are chosen.
  std::optional<std::pair<std::string, std::string>> words;
  // Called with the next part of the computation ("attention ..."): a report takes seconds. May be
  // empty.
  std::function<void(std::string_view)> progress;
  // Called with every picture of the page as it is drawn. May be empty.
  std::function<void(const ReportPicture&)> picture;
  // The data for a preview of a link: the address of the page, and that of its card, which may be
  // relative to it. Empty: none.
  std::string url, card;
};

// Returns one self-contained HTML page that loads nothing. A small script inside adds an
// interactive map; the page can be read without it. For a longer text the first sentences, up to 72
// tokens, are drawn. Throws an Error with report.text for a text that is not UTF-8 or has no word,
// and with report.words for words that are not in it.
std::string report_page(const std::string& text, const ReportOptions& options = {});

// Returns the card of that page, 1200 x 630: the text, its form with two words swapped, and the
// distance of the two outputs of attention. Throws Error as report_page().
Picture report_card(const std::string& text, const ReportOptions& options = {});

}  // namespace sextant::figures

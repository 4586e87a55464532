// The report: one page about a text, from its words to attention and the exactness of the tables.
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
  int section = 0;      // its number, from 1
  std::string heading;  // of the section
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
  // Two words of the text to compare; they are swapped where both are in the sentences that are
  // drawn. Unset: the two longest words there.
  std::optional<std::pair<std::string, std::string>> words;
  // Told what is computed next ("attention ..."): a report takes seconds. May be empty.
  std::function<void(std::string_view)> progress;
  // Given every picture of the page as it is drawn. May be empty.
  std::function<void(const ReportPicture&)> picture;
  // What a link to the page shows: the address of the page, and that of its card, which may be
  // relative to it. Empty: not said.
  std::string url, card;
};

// One self-contained HTML page that loads nothing; a small script inside adds a map that answers
// questions, and everything can be read without it. Of a longer text the first sentences, up to 72
// tokens, are drawn. Throws Error naming report.text for a text that is not UTF-8 or has no word,
// and report.words for words that are not in it.
std::string report_page(const std::string& text, const ReportOptions& options = {});

// The card of that page, 1200 x 630: the text, two of its words swapped, and how far apart what
// attention makes of them is. Throws Error as report_page().
Picture report_card(const std::string& text, const ReportOptions& options = {});

}  // namespace sextant::figures

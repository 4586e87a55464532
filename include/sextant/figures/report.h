// The report: one page about a text, from its words to attention and the exactness of the tables.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace sextant::figures {

struct ReportOptions {
  // Two words of the text to compare; they are swapped where both are in the sentences that are
  // drawn. Unset: the two longest words there.
  std::optional<std::pair<std::string, std::string>> words;
  // Told what is computed next ("attention ..."): a report takes seconds. May be empty.
  std::function<void(std::string_view)> progress;
};

// One self-contained HTML page that loads nothing. Of a longer text the first sentences, up to 60
// tokens, are drawn. Throws Error naming report.text for a text that is not UTF-8 or has no word,
// and report.words for words that are not in it.
std::string report_page(const std::string& text, const ReportOptions& options = {});

}  // namespace sextant::figures

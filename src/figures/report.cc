// The page of a report, section by section.
#include "sextant/figures/report.h"

#include "figures/report_parts.h"
#include "sextant/figures/environment.h"

namespace sextant::figures {

std::string report_page(const std::string& given, const ReportOptions& options) {
  const auto next = [&options](std::string_view what) {
    if (options.progress) options.progress(what);
  };
  next("the text ...");
  const ReportText text = read_report_text(given, options.words);
  Page page("Positions and attention", "What a transformer makes of one text, step by step.");
  Json numbers;
  report_text(page, text, numbers);
  next("positions ...");
  report_positions(page, text);
  next("attention ...");
  report_attention(page, text, numbers);
  report_order(page, text, numbers);
  next("word vectors ...");
  report_similarity(page, text, numbers);
  report_plain_attention(page, text);
  next("properties ...");
  report_offsets(page, numbers);
  report_doubled_exponent(page, numbers);
  report_exactness(page, numbers);
  page.section("How this page was made");
  const Environment here = environment();
  page.paragraph(here.line());
  numbers["environment"] = Json::parse(here.json());
  page.data("report.json", to_text(numbers));
  return page.html();
}

}  // namespace sextant::figures

// Makes the page of a report: each section has a claim and its evidence.
#include "sextant/figures/report.h"

#include "core/files/embedded_text.h"
#include "figures/report/page_files.h"
#include "figures/report/parts.h"
#include "sextant/figures/environment.h"
#include "sextant/text/segment.h"

namespace sextant::figures {
namespace {

std::string meta(const char* property, const std::string& content) {
  if (content.empty()) return "";
  return std::string("<meta property=\"") + property + "\" content=\"" + escape_html(content) +
         "\">\n";
}

// The tags that give a link to the page its preview.
std::string link_tags(const ReportText& text, const ReportOptions& options) {
  const std::optional<Experiment> made = order_experiment(text);
  const bool absolute = options.card.empty() || options.card.find("://") != std::string::npos;
  const std::string card = absolute || options.url.empty()
                               ? options.card
                               : options.url.substr(0, options.url.rfind('/') + 1) + options.card;
  return meta("og:type", "article") + meta("og:title", heading_of(text)) +
         meta("og:description", made ? made->verdict : "Positions and attention, step by step.") +
         meta("og:url", options.url) + meta("og:image", card) +
         (card.empty() ? ""
                       : meta("og:image:width", "1200") + meta("og:image:height", "630") +
                             meta("og:image:alt", made ? made->verdict : heading_of(text)) +
                             "<meta name=\"twitter:card\" content=\"summary_large_image\">\n");
}

}  // namespace

std::string report_page(const std::string& given, const ReportOptions& options) {
  const auto next = [&options](std::string_view what) {
    if (options.progress) options.progress(what);
  };
  next("the text ...");
  const ReportText text = read_report_text(given, options.words);
  ReportPage page(heading_of(text), options);
  page.insert_head(link_tags(text, options));
  constexpr std::int64_t kLongHeading = 120;  // characters
  const bool is_long = visible_length(heading_of(text)) > kLongHeading;
  page.insert_head("<style>\n" + embedded_text(kReportCss) +
                   (is_long ? "h1, .other { font-size: 1.15rem; }\n" : "") + "</style>\n");
  Json numbers;
  report_order(page, text, numbers);
  next("positions ...");
  report_addresses(page, text, numbers);
  report_clock_hands(page, text, numbers);
  next("attention ...");
  report_one_weight(page, text, numbers);
  report_attention(page, text, numbers);
  report_rotation(page, text, numbers);
  next("a trained model ...");
  report_trained(page, numbers);
  next("every scheme ...");
  report_reference(page, text, numbers);
  page.section("How this page was made");
  const Environment here = environment();
  page.paragraph(here.line());
  numbers["environment"] = Json::parse(here.json());
  page.data("report.json", to_text(numbers));
  page.insert("<script>\n" + embedded_text(kReportJs) + "</script>\n");
  return page.html();
}

}  // namespace sextant::figures

// `sextant report`: one page: from a sentence to attention.
#include <memory>
#include <optional>

#include "commands.h"
#include "options/options.h"
#include "report/report_parts.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "streams/environment.h"

namespace sextant::app {
namespace {

struct Report {
  TextInput text;
  std::optional<std::pair<std::string, std::string>> words;
  std::string path = "report.html";
};

void run(const Report& report) {
  const ReportText text = read_report_text(report.text.read("report.text"), report.words);
  Page page("Positions and attention", "What a transformer makes of one text, step by step.");
  Json numbers;
  const Progress progress("the text ...");
  report_text(page, text, numbers);
  progress.show("positions ...");
  report_positions(page, text);
  progress.show("attention ...");
  report_attention(page, text, numbers);
  report_order(page, text, numbers);
  progress.show("word vectors ...");
  report_similarity(page, text, numbers);
  report_plain_attention(page, text);
  progress.show("properties ...");
  report_offsets(page, numbers);
  report_doubled_exponent(page, numbers);
  report_exactness(page, numbers);
  page.section("How this page was made");
  page.paragraph(environment_line());
  numbers["environment"] = environment();
  page.data("report.json", to_text(numbers));
  if (report.path == "-") return print(page.html());
  write_file(report.path, page.html());
  progress.show("");
  if (stdout_is_terminal()) print("the report is in " + report.path + "\n");
}

}  // namespace

void add_report(CLI::App& program, Job& job) {
  CLI::App& command = *program.add_subcommand(
      "report",
      "one page about a text, from words to attention\n"
      "Writes one self-contained page about a text: its tokens, their positions, attention maps "
      "with and without positions and mask, whether order matters, how similar its words are, how "
      "exact the tables are. The page loads nothing from the network.");
  auto report = std::make_shared<Report>();
  report->text.add_to(command, "the text");
  command
      .add_option_function<std::string>(
          "--words",
          [report = report.get()](const std::string& text) {
            report->words = parse_words(text, "report.words");
          },
          "two words of the text to compare, such as black,brown; they are swapped if both are in "
          "the sentences that are drawn (default: the two longest words there)")
      ->type_name("A,B");
  command.add_option("-o,--output", report->path, "the page (default report.html; - is stdout)")
      ->type_name("FILE")
      ->default_str(report->path);
  command.footer(
      "Examples:\n"
      "  sextant report \"The black cat sat on the couch.\" -o report.html\n"
      "  sextant report --file story.txt --words king,queen -o story.html\n"
      "  echo \"Dog bites man!\" | sextant report - -o report.html\n"
      "Of a longer text only the first sentences, up to 60 tokens, are drawn.");
  command.callback([report, &job] {
    report->text.check("report.text");
    if (report->path != "-") {
      constexpr Format kFormats[] = {Format::html};
      format_of_path(report->path, kFormats, "report.output");
    }
    job = [report] { run(*report); };
  });
}

}  // namespace sextant::app

// `sextant report`: one page: from a sentence to attention.
#include "sextant/figures/report.h"

#include <memory>

#include "commands.h"
#include "options/options.h"
#include "sextant/core/files.h"
#include "streams/console.h"

namespace sextant::app {
namespace {

struct Report {
  TextInput text;
  figures::ReportOptions options;
  std::string path = "report.html";
};

void run(Report& report) {
  const std::string text = report.text.read("report.text");
  const Progress progress("");
  report.options.progress = [&progress](std::string_view what) { progress.show(what); };
  const std::string page = figures::report_page(text, report.options);
  if (report.path == "-") return print(page);
  write_file(report.path, page);
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
            report->options.words = parse_words(text, "report.words");
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

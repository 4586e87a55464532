// `sextant report`: one page: from a sentence to attention.
#include "sextant/figures/report.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "commands.h"
#include "options/file_arguments.h"
#include "options/options.h"
#include "sextant/core/files.h"
#include "sextant/pictures/canvas.h"
#include "streams/console.h"
#include "streams/table_output.h"

namespace sextant::app {
namespace {

struct Report {
  TextInput text;
  figures::ReportOptions options;
  std::string path = "report.html", card, pictures;
};

void run(Report& report) {
  const std::string text = report.text.read("report.text");
  const Progress progress("");
  report.options.progress = [&progress](std::string_view what) { progress.show(what); };
  if (!report.card.empty()) {
    namespace fs = std::filesystem;
    report.options.card = fs::path(report.card)
                              .lexically_proximate(fs::path(report.path).parent_path())
                              .generic_string();
  }
  std::optional<figures::ReportFolder> pictures;
  if (!report.pictures.empty()) {
    pictures.emplace(report.pictures);
    report.options.picture = [&pictures](const auto& made) { pictures->save(made); };
  }
  const std::string page = figures::report_page(text, report.options);
  if (!report.card.empty()) {
    const Picture card = figures::report_card(text, report.options);
    save_picture(report.card, card, 1);
    warn_of(report.card, card);
  }
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
      "Writes one self-contained page that explains with this text why attention needs positions: "
      "the "
      "same words in two orders, without and with positions; addresses; clock hands; attention "
      "maps to explore; rotation; a trained model. The page loads nothing from the network.");
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
  output_file(command.add_option("-o,--output", report->path,
                                 "the page (default report.html; - writes to stdout)"))
      ->default_str(report->path);
  output_file(
      command.add_option("--card", report->card,
                         "also write the preview picture for links to the page, 1200 x 630 pixels"),
      "FILE.png");
  output_file(command.add_option("--pictures", report->pictures,
                                 "also save every picture of the page in this folder, as .svg and "
                                 "as .png of 1920 pixels' width, for slides"),
              "DIR");
  command
      .add_option("--url", report->options.url,
                  "the address of the published page, for the preview of links")
      ->type_name("URL");
  command.footer(
      "Examples:\n"
      "  sextant report \"The black cat sat on the couch.\" -o report.html\n"
      "  sextant report --file story.txt --words king,queen -o story.html --card story.png\n"
      "  sextant report \"The black cat sat on the couch.\" --pictures slides\n"
      "  echo \"Dog bites man!\" | sextant report - -o report.html\n"
      "Of a longer text only the first sentences, up to 72 tokens, are drawn.");
  command.callback([report, &job] {
    report->text.check("report.text");
    if (report->path != "-") {
      constexpr Format kFormats[] = {Format::html};
      format_of_path(report->path, kFormats, "report.output");
    }
    if (!report->card.empty()) {
      constexpr Format kFormats[] = {Format::png};
      format_of_path(report->card, kFormats, "report.card");
    }
    job = [report] { run(*report); };
  });
}

}  // namespace sextant::app

// `sextant report`: one page: from a sentence to attention.
#include "sextant/figures/report.h"

#include <cctype>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "commands.h"
#include "options/file_arguments.h"
#include "options/options.h"
#include "sextant/core/error.h"
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

// Pixels, of a projector. A picture's width is rounded up, so that it is a little less.
constexpr double kSlideWidth = 1919.99;

// Returns "3-columns-of-sinusoidal-positions": the section and the picture's title.
std::string file_name(const figures::ReportPicture& made) {
  std::string name = std::to_string(made.section) + "-";
  for (const char c : made.picture.title.empty() ? made.heading : made.picture.title) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isalnum(letter) != 0) {
      name += static_cast<char>(std::tolower(letter));
    } else if (name.back() != '-') {
      name += '-';
    }
  }
  return name.substr(0, name.find_last_not_of('-') + 1);
}

// Saves each picture of the page in the folder, as .svg and as .png of a slide's width.
class PictureFolder {
 public:
  explicit PictureFolder(std::string folder) : folder_(std::move(folder)) {
    std::error_code problem;
    std::filesystem::create_directories(folder_, problem);
    if (problem) {
      throw Error("report.pictures", folder_ + " cannot be made: " + problem.message());
    }
  }
  void save(const figures::ReportPicture& made) {
    std::string name = file_name(made);
    if (const int before = names_[name]++; before > 0) name += "-" + std::to_string(before + 1);
    const std::string path = (std::filesystem::path(folder_) / name).string();
    save_picture(path + ".svg", made.picture);
    save_picture(path + ".png", made.picture, kSlideWidth / made.picture.width);
  }

 private:
  std::string folder_;
  std::map<std::string, int> names_;
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
  std::optional<PictureFolder> pictures;
  if (!report.pictures.empty()) {
    pictures.emplace(report.pictures);
    report.options.picture = [&pictures](const figures::ReportPicture& made) {
      pictures->save(made);
    };
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
      "Writes one self-contained page that explains with this text why order needs positions: the "
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
                                 "the page (default report.html; - is stdout)"))
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

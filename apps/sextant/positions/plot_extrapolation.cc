// `sextant plot extrapolation`: the results of `sextant extrapolate`, drawn again.
#include <memory>

#include "commands.h"
#include "options/file_arguments.h"
#include "options/options.h"
#include "sextant/core/files.h"
#include "sextant/figures/extrapolation_chart.h"
#include "streams/console.h"
#include "streams/table_output.h"
#include "training/extrapolate_report.h"

namespace sextant::app {
namespace {

constexpr Format kResultFormats[] = {Format::text, Format::csv, Format::json, Format::svg,
                                     Format::png,  Format::pdf, Format::html};
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 24;

struct PlotExtrapolation {
  std::string file, token = "token";
  Output output;
};

std::string read_results(const std::string& file) {
  return file == "-" ? read_stdin(kMostBytes) : read_file(file, kMostBytes);
}

void run(const PlotExtrapolation& options) {
  const std::string where = options.file == "-" ? "stdin" : options.file;
  const ExtrapolationTable table = parse_extrapolation(read_results(options.file), where);
  const auto asked = options.output.format(kResultFormats, "extrapolation");
  const Format format = asked.value_or(stdout_is_terminal() ? Format::text : Format::svg);
  if (format == Format::text) {
    return write_result(options.output, format, report_text(table, options.token));
  }
  if (format == Format::csv) return write_result(options.output, format, format_csv(table));
  if (format == Format::json) {
    return write_result(options.output, format, to_text(Json::parse(format_json(table))) + "\n");
  }
  write_picture(figures::extrapolation_chart(table, options.token, options.output.max_width),
                "Train short, test long", options.output, format);
}

}  // namespace

void add_plot_extrapolation(CLI::App& plot, Job& job) {
  CLI::App& command = *plot.add_subcommand(
      "extrapolation",
      "perplexities by length, from results.json\n"
      "Draws the results of `sextant extrapolate`: perplexity by length, a line per scheme, in "
      "segments and in sliding windows.");
  auto options = std::make_shared<PlotExtrapolation>();
  input_file(
      command.add_option("FILE", options->file, "results.json of an extrapolation; - reads stdin"))
      ->required();
  command
      .add_option("--token", options->token,
                  "the word for a token: character, sub-word, word (default token)")
      ->type_name("NAME");
  options->output.add_to(
      command, kResultFormats,
      "save the picture (.svg .png .pdf .html) or its numbers (.csv .json .txt)");
  command.footer(
      "Examples:\n"
      "  sextant plot extrapolation lengths/results.json -o lengths.svg\n"
      "  sextant plot extrapolation lengths/results.json --token character --format csv\n"
      "Without -o: a table in a terminal, SVG in a pipe.");
  command.callback([options, &job] {
    options->output.format(kResultFormats, "extrapolation");
    job = [options] { run(*options); };
  });
}

}  // namespace sextant::app

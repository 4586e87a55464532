// `sextant plot losses`: how trainings went.
#include <memory>
#include <utility>

#include "commands.h"
#include "core/text/csv.h"
#include "options/file_arguments.h"
#include "options/options.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/figures/loss_chart.h"
#include "streams/console.h"
#include "streams/table_output.h"

namespace sextant::app {
namespace {

constexpr Format kLossFormats[] = {Format::csv, Format::json, Format::svg,
                                   Format::png, Format::pdf,  Format::html};

struct PlotLosses {
  std::vector<std::string> folders;
  Output output;
};

// One loss as bars.
std::string bars_of_loss(const std::string& name, const std::vector<double>& steps,
                         const std::vector<double>& losses) {
  if (steps.empty()) return "";
  Tensor<double> table({static_cast<std::int64_t>(steps.size()), 2});
  for (std::size_t i = 0; i < steps.size(); ++i) {
    table(static_cast<std::int64_t>(i), 0) = steps[i];
    table(static_cast<std::int64_t>(i), 1) = losses[i];
  }
  return bars_of(std::as_const(table).view(), "step, " + name) + "\n";
}

std::string losses_text(const std::vector<figures::LossRun>& runs) {
  std::string text;
  for (const figures::LossRun& run : runs) {
    const std::string of = " loss per token of " + run.name;
    text +=
        bars_of_loss("training" + of + " (moving average)", run.curves.steps, run.curves.mean_loss);
    text += bars_of_loss("held-out" + of, run.curves.validation_steps, run.curves.validation_loss);
  }
  return text + "the picture: -o FILE.svg, .png, .pdf or .html; its numbers: .csv or .json\n";
}

// A line per step; the held-out loss is empty where none was measured.
std::string losses_csv(const std::vector<figures::LossRun>& runs) {
  std::string text = "run,step,seconds,loss,mean_loss,validation_loss\n";
  for (const auto& [name, of] : runs) {
    std::size_t validation = 0;
    for (std::size_t i = 0; i < of.steps.size(); ++i) {
      text += csv_cell(name) + "," + std::to_string(static_cast<std::int64_t>(of.steps[i])) + "," +
              shortest(of.seconds[i]) + "," + shortest(of.loss[i]) + "," +
              shortest(of.mean_loss[i]) + ",";
      if (validation < of.validation_steps.size() &&
          of.validation_steps[validation] == of.steps[i]) {
        text += shortest(of.validation_loss[validation++]);
      }
      text += "\n";
    }
  }
  return text;
}

void run(const PlotLosses& options) {
  std::vector<figures::LossRun> runs;
  for (const std::string& folder : options.folders) runs.push_back(figures::load_losses(folder));
  const std::string title = figures::loss_title(runs);
  const auto asked = options.output.format(kLossFormats, "losses");
  if (!asked && stdout_is_terminal()) return print(losses_text(runs));
  const Format format = asked.value_or(Format::svg);
  if (format == Format::csv) return write_result(options.output, format, losses_csv(runs));
  if (format != Format::json) {
    return write_picture(loss_chart(runs, title, options.output.max_width), title, options.output,
                         format);
  }
  Json json = Json::array();
  for (const figures::LossRun& run : runs) {
    json.push_back({{"name", run.name},
                    {"steps", run.curves.steps},
                    {"loss", run.curves.loss},
                    {"mean_loss", run.curves.mean_loss},
                    {"seconds", run.curves.seconds},
                    {"validation_steps", run.curves.validation_steps},
                    {"validation_loss", run.curves.validation_loss}});
  }
  write_result(options.output, format, to_text(json) + "\n");
}

}  // namespace

void add_plot_losses(CLI::App& plot, Job& job) {
  CLI::App& command =
      *plot.add_subcommand("losses",
                           "loss curves of training runs\n"
                           "Draws the losses that `sextant train` wrote, of one run or of several "
                           "side by side. A run may still be in progress.");
  auto options = std::make_shared<PlotLosses>();
  input_file(command.add_option("DIR", options->folders, "folders of training runs"), "DIR")
      ->required();
  options->output.add_to(command, kLossFormats,
                         "save the picture (.svg .png .pdf .html) or its numbers (.csv .json)");
  command.footer(
      "Examples:\n"
      "  sextant plot losses run -o losses.svg\n"
      "  sextant plot losses run-rotary run-alibi -o losses.png\n"
      "  sextant plot losses run --format csv\n"
      "Without -o: bars in a terminal, SVG in a pipe.");
  command.callback([options, &job] {
    options->output.format(kLossFormats, "losses");
    job = [options] { run(*options); };
  });
}

}  // namespace sextant::app

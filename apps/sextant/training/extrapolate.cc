// `sextant extrapolate`: train at one length, test at others, one line per scheme.
#include <algorithm>
#include <memory>

#include "commands.h"
#include "options/arguments.h"
#include "sextant/figures/extrapolation_chart.h"
#include "sextant/training/progress.h"
#include "sextant/training/tasks/text_data.h"
#include "streams/console.h"
#include "training/extrapolate_options.h"
#include "training/extrapolate_report.h"
#include "training/train_watch.h"

namespace sextant::app {
namespace {

LanguageData read_data(const ExtrapolateOptions& options) {
  const Progress reading("reading the text ...");
  return load_language_data(options.texts, with_small_vocabulary(options.data));
}

// "rotary (4 of 7): step 120/800 ...": a line that is rewritten on a terminal, else one now and
// then.
class Watch {
 public:
  explicit Watch(const ExtrapolationOptions& options) : options_(options) {}

  void show(const ExtrapolationProgress& now) {
    std::string line = options_.schemes[now.scheme].label + " (" + std::to_string(now.scheme + 1) +
                       " of " + std::to_string(options_.schemes.size()) + "): ";
    const bool terminal = stderr_is_terminal();
    if (now.training != nullptr) {
      const double seconds = now.training->metrics.seconds;
      if (seconds < shown_at_ + (terminal ? 0.1 : 30)) return;
      shown_at_ = seconds;
      const std::int64_t width = terminal ? terminal_width() - 1 : 100;
      line += progress_line(*now.training, std::max<std::int64_t>(
                                               20, width - static_cast<std::int64_t>(line.size())));
    } else {
      shown_at_ = -1e9;
      line += std::string(now.doing);
      if (now.length > 0) line += " at " + std::to_string(now.length);
    }
    if (terminal) {
      line_.show(line);
    } else if (now.length <= options_.test_lengths.front()) {
      note(line);
    }
  }

 private:
  const ExtrapolationOptions& options_;
  Progress line_{""};
  double shown_at_ = -1e9;  // StepMetrics::seconds
};

void write_table_of(const ExtrapolateOptions& options, const ExtrapolationTable& table,
                    const std::string& unit) {
  switch (options.output.format(kScoreFormats, "extrapolate").value_or(Format::text)) {
    case Format::json:
      return print(to_text(Json::parse(format_json(table))) + "\n");
    case Format::csv:
      return print(format_csv(table));
    default:
      return print(app::text_of(table, unit) + "\nthe picture: " + options.run.folder +
                   "/extrapolation.svg\n");
  }
}

void run(ExtrapolateOptions& options) {
  const LanguageData data = read_data(options);
  options.run.model.seed = static_cast<std::uint32_t>(options.run.data.seed);
  options.run.should_stop = [] { return StopSignals::caught() != 0; };
  note(grouped(static_cast<std::int64_t>(data.tokens.size())) + " tokens to train on, " +
       grouped(static_cast<std::int64_t>(data.held_out.size())) + " held out");
  ExtrapolationResult result;
  int signal = 0;
  {
    const StopSignals signals;
    Watch watch(options.run);
    result = extrapolate(options.run, data.tokenizer, data.tokens, data.held_out,
                         [&watch](const ExtrapolationProgress& now) { watch.show(now); });
    if (result.stopped) signal = StopSignals::caught();
  }
  const std::string kind(name_of(options.data.tokenizer.kind));
  const std::string unit = kind == "subword" ? "sub-word" : kind;
  if (!result.table.rows.empty()) {
    const Picture picture = figures::extrapolation_chart(result.table, unit);
    save_picture(options.run.folder + "/extrapolation.svg", picture);
    if (!options.picture.empty()) save_picture(options.picture, picture);
    try {
      write_table_of(options, result.table, unit);
    } catch (...) {
      if (signal == 0) throw;  // a terminal that was closed has no reader; the rows are saved
    }
  }
  if (signal == 0) return;
  note("stopped; the same command continues");
  throw EndWith{128 + signal};
}

}  // namespace

void add_extrapolate(CLI::App& program, Job& job) {
  CLI::App& command = *program.add_subcommand(
      "extrapolate",
      "train at one length, test at others\n"
      "Trains one small language model per positional scheme, all with the same initial weights, "
      "batches and steps, and scores each at several lengths on the same held-out tokens: in "
      "segments that do not overlap and in sliding windows. The table goes to stdout, results.json "
      "and extrapolation.svg into the folder. The same command continues where it was stopped; "
      "with other schemes or test lengths it reuses the trained models.");
  auto options = std::make_shared<ExtrapolateOptions>();
  options->add_to(command);
  command.footer(
      "Examples:\n"
      "  sextant extrapolate --text plays.txt --minutes 20 -o lengths\n"
      "  sextant extrapolate --text plays.txt --schemes rotary,rotary:base=500000,alibi --steps "
      "500\n"
      "  sextant extrapolate --text plays.txt --train-length 64 --test-lengths 64,128,256 "
      "--minutes 5\n"
      "Ctrl-C saves and ends with exit code 130; a closed terminal saves too.");
  command.callback([options, &command, &job] {
    options->check(command);
    job = [options] { run(*options); };
  });
}

}  // namespace sextant::app

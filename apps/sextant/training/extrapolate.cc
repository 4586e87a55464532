// `sextant extrapolate`: train at one length, test at others, one line per scheme; on ranks of MPI
// the models are trained side by side.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "commands.h"
#include "options/arguments.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/experiments/exchange_positions.h"
#include "sextant/figures/extrapolation_chart.h"
#include "sextant/models/text_model.h"
#include "sextant/text/pairs.h"
#include "sextant/training/progress.h"
#include "sextant/training/tasks/text_data.h"
#include "streams/console.h"
#include "streams/table_output.h"
#include "training/extrapolate_options.h"
#include "training/extrapolate_report.h"
#include "training/on_ranks.h"
#include "training/train_watch.h"

namespace sextant::app {
namespace {

LanguageData texts_of(const ExtrapolateOptions& options) {
  if (options.run.trained == nullptr) {
    return load_language_data(options.texts, with_small_vocabulary(options.data));
  }
  SplitTexts texts;
  for (const std::string& file : options.texts) {
    texts.add(load_texts(file)[0], options.data.held_out);
  }
  return texts.encode(options.run.trained->tokenizer);
}

LanguageData read_data(const ExtrapolateOptions& options, TrainingGroup* group) {
  std::optional<LanguageData> data;
  const auto read = [&] {
    std::optional<Progress> reading;
    if (group == nullptr || group->rank() == 0) reading.emplace("reading the text ...");
    data = texts_of(options);
  };
  if (group != nullptr) {
    group->run_or_fail_on_all(read);
  } else {
    read();
  }
  return std::move(*data);
}

// "rotary (4 of 7): step 120/800 ...": a line that is rewritten on a terminal, else one now and
// then. Ranks have no line to share: each tells of its models now and then.
class Watch {
 public:
  explicit Watch(const ExtrapolationOptions& options)
      : options_(options), terminal_(options.group == nullptr && stderr_is_terminal()) {}

  void show(const ExtrapolationProgress& now) {
    std::string line = name_of_run(options_, now) + " " + place_of(now) + ": ";
    if (now.training != nullptr) {
      const double seconds = now.training->metrics.seconds;
      if (seconds < shown_at_ + (terminal_ ? 0.1 : 30)) return;
      shown_at_ = seconds;
      const std::int64_t width = terminal_ ? terminal_width() - 1 : 100;
      line += progress_line(*now.training, std::max<std::int64_t>(
                                               20, width - static_cast<std::int64_t>(line.size())));
    } else {
      shown_at_ = -1e9;
      line += std::string(now.doing);
      if (now.length > 0) line += " at " + std::to_string(now.length);
    }
    if (terminal_) {
      line_.show(line);
    } else if (now.length <= options_.test_lengths.front()) {
      note(line);
    }
  }

 private:
  // "(4 of 7)", in the order in which they are made.
  std::string place_of(const ExtrapolationProgress& now) const {
    const std::size_t schemes = options_.schemes.size();
    const bool measures = now.doing == "measuring";  // the first seed alone
    const auto seed = static_cast<std::size_t>(now.seed - options_.data.seed);
    const auto seeds = measures ? 1 : static_cast<std::size_t>(options_.seeds);
    return "(" + std::to_string(seed * schemes + now.scheme + 1) + " of " +
           std::to_string(seeds * schemes) + ")";
  }

  const ExtrapolationOptions& options_;
  bool terminal_;
  Progress line_{""};
  double shown_at_ = -1e9;  // StepMetrics::seconds
};

void write_table_of(const ExtrapolateOptions& options, const ExtrapolationTable& table,
                    const std::string& unit, bool has_folder) {
  switch (options.output.format(kScoreFormats, "extrapolate").value_or(Format::text)) {
    case Format::json:
      return print(to_text(Json::parse(format_json(table))) + "\n");
    case Format::csv:
      return print(format_csv(table));
    default:
      return print(
          report_text(table, unit) +
          (has_folder ? "\nthe picture: " + options.run.folder + "/extrapolation.svg\n" : ""));
  }
}

void show_result(const ExtrapolateOptions& options, const ExtrapolationResult& result, int signal,
                 const std::string& unit, bool has_folder) {
  if (result.table.rows.empty()) return;
  const Picture picture = figures::extrapolation_chart(result.table, unit);
  if (has_folder) save_picture(options.run.folder + "/extrapolation.svg", picture);
  if (!options.picture.empty()) {
    save_picture(options.picture, picture);
    warn_of(options.picture, picture);
  }
  try {
    write_table_of(options, result.table, unit, has_folder);
  } catch (...) {
    if (signal == 0) throw;  // a terminal that was closed has no reader; the rows are saved
  }
}

// The same for a trained model with its positions exchanged, which all texts score.
int run_of_model(ExtrapolateOptions& options, bool writes_folder) {
  TextModel model = TextModel::load(options.model.open({ModelKind::causal}));
  std::vector<std::int64_t> tokens;
  for (const std::string& file : options.texts) {
    const auto more = model.tokenizer.encode(load_texts(file)[0]);
    tokens.insert(tokens.end(), more.begin(), more.end());
  }
  ExtrapolationResult result;
  int signal = 0;
  {
    const StopSignals signals(true);
    options.run.should_stop = [] { return StopSignals::caught() != 0; };
    const Progress progress("");
    result = exchange_positions(model, tokens, options.run, [&](const ExtrapolationProgress& now) {
      progress.show(
          (now.scheme == 0 ? "its own positions" : options.run.schemes[now.scheme - 1].label) +
          " at " + std::to_string(now.length));
    });
    signal = StopSignals::caught();
  }
  if (writes_folder) {
    std::filesystem::create_directories(options.run.folder);
    write_file(options.run.folder + "/results.json", format_json(result.table));
  }
  show_result(options, result, signal, "token", writes_folder);
  return signal == 0 ? 0 : 128 + signal;
}

// Returns the exit code. `group`: nullptr, or the ranks, of which the first one prints the result.
int run(ExtrapolateOptions& options, const CLI::App& command, TrainingGroup* group) {
  std::optional<TextModel> trained;
  if (!options.model.folders.empty()) {
    trained = TextModel::load(options.model.open({ModelKind::causal}));
    options.train_further(command, *trained);
  }
  const LanguageData data = read_data(options, group);
  const bool tells = group == nullptr || group->rank() == 0;
  options.run.group = group;
  options.run.model.seed = static_cast<std::uint32_t>(options.run.data.seed);
  options.run.should_stop = [] { return StopSignals::caught() != 0; };
  if (tells) {
    note(grouped(static_cast<std::int64_t>(data.tokens.size())) + " tokens to train on, " +
         grouped(static_cast<std::int64_t>(data.held_out.size())) + " held out" +
         (group == nullptr ? "" : "; " + std::to_string(group->size()) + " ranks"));
  }
  ExtrapolationResult result;
  int signal = 0;
  {
    const StopSignals signals(tells);
    Watch watch(options.run);
    result = extrapolate(options.run, data.tokenizer, data.tokens, data.held_out,
                         [&watch](const ExtrapolationProgress& now) { watch.show(now); });
    if (result.stopped) signal = stopping_signal(group);
  }
  if (!tells) return signal == 0 ? 0 : 128 + signal;
  const std::string kind(trained ? "token" : name_of(options.data.tokenizer.kind));
  show_result(options, result, signal, kind == "subword" ? "sub-word" : kind, true);
  if (signal == 0) return 0;
  note("stopped; the same command continues");
  return 128 + signal;
}

}  // namespace

void add_extrapolate(CLI::App& program, Job& job) {
  CLI::App& command = *program.add_subcommand(
      "extrapolate",
      "train at one length, test at others; or exchange the positions of a trained model\n"
      "Trains one small language model per positional scheme, all with the same initial weights, "
      "batches and steps, and scores each at several lengths on the same held-out tokens: in "
      "segments that do not overlap and in sliding windows. With --seeds it repeats this and "
      "shows means with their spread. The table goes to stdout, results.json and "
      "extrapolation.svg into the folder. The same command continues a stopped experiment; with "
      "other schemes, more seeds or other test lengths it reuses the trained models.\n"
      "With --model nothing is trained: a causal model, of this library or of Hugging Face, is "
      "scored on the whole text with its own positions and with each of --schemes in their place. "
      "With --model and --steps or --minutes, each of these is also trained further, and scored "
      "on the held-out text before and after it.");
  auto options = std::make_shared<ExtrapolateOptions>();
  options->add_to(command);
  command.footer(
      "Examples:\n"
      "  sextant extrapolate --file plays.txt --minutes 20 -o lengths\n"
      "  sextant extrapolate --file plays.txt --schemes rotary,rotary:base=500000,alibi --steps "
      "500\n"
      "  sextant extrapolate --file plays.txt --schemes rotary,alibi --steps 500 --seeds 3\n"
      "  sextant extrapolate --file plays.txt --train-length 64 --test-lengths 64,128,256 "
      "--minutes 5\n"
      "  sextant extrapolate --file plays.txt --model runs/plays --schemes "
      "none,rotary_linear:factor=4,alibi\n"
      "  sextant extrapolate --file plays.txt --model runs/plays --schemes "
      "none,rotary_linear:factor=4 --steps 100 -o further\n"
      "  mpirun -n 4 sextant extrapolate --file plays.txt --minutes 20 -o lengths   (built with "
      "MPI)\n"
      "Ctrl-C saves and ends with exit code 130; a closed terminal saves too.");
  command.callback([options, &command, &job] {
    options->check(command);
    job = [options, &command] {
      on_ranks(command, [&](TrainingGroup* group) {
        if (options->trains()) return run(*options, command, group);
        if (group != nullptr) {
          throw Error("extrapolate.model",
                      "must not be combined with several ranks: nothing is trained");
        }
        return run_of_model(*options, command.count("--output") > 0);
      });
    };
  });
}

}  // namespace sextant::app

// `sextant train`: train a small transformer on your text, on this machine.
#include <memory>

#include "commands.h"
#include "options/arguments.h"
#include "sextant/core/files.h"
#include "sextant/figures/loss_chart.h"
#include "sextant/training/tasks/built_in_data.h"
#include "sextant/training/tasks/make_task.h"
#include "training/train_options.h"
#include "training/train_report.h"
#include "training/train_watch.h"

namespace sextant::app {
namespace {

std::string data_of(const PlannedTask& made) {
  const auto count = [](std::size_t size) { return grouped(static_cast<std::int64_t>(size)); };
  return count(made.learned) + " " + made.unit + " to learn from, " + count(made.held_out) +
         " held out";
}

TrainReport report_of(const TrainOptions& options, const TrainingPlan& plan,
                      const PlannedTask& made, const TrainingResult& result) {
  TrainReport report;
  report.folder = options.folder;
  report.kind = plan.settings.kind;
  report.model = plan.settings.model;
  report.tokenizer = plan.settings.tokenizer.kind;
  report.data = data_of(made);
  report.parameters = made.parameters;
  report.result = result;
  if (result.step == 0) return report;
  const figures::LossRun run = figures::load_losses(options.folder);
  report.training_loss = run.curves.mean_loss.back();
  if (!run.curves.validation_loss.empty()) {
    report.validation_loss = run.curves.validation_loss.back();
  }
  report.picture = options.folder + "/loss.svg";
  write_file(report.picture, figures::loss_chart({run}, "Loss of " + run.name).svg);
  return report;
}

void run(const TrainOptions& options, const CLI::App& command) {
  TrainingPlan plan = options.plan(command);
  PlannedTask made;
  {
    const Progress reading("reading the data ...");
    made = make_task(plan, options.resume ? options.folder : "");
  }
  TrainerOptions& trainer = plan.trainer;
  trainer.folder = options.folder;
  if (!options.resume) trainer.settings = format_settings(plan);
  trainer.should_stop = [](const StepMetrics&) { return StopSignals::caught() != 0; };
  note(plan.settings.kind + ": " + data_of(made) + "; " + std::to_string(made.parameters) +
       " parameters; " + std::to_string(made.steps_per_epoch) + " steps see all of it once");

  TrainingResult result;
  int signal = 0;
  {
    const StopSignals signals;
    TrainProgress progress;
    result = train(*made.task, trainer, [&](const TrainingProgress& now) {
      if (options.json_lines) return print(format_metrics(now.metrics) + "\n");
      progress.show(now);
    });
    if (result.end == TrainingEnd::stopped) signal = StopSignals::caught();
  }
  TrainReport report = report_of(options, plan, made, result);
  if (is_built_in(plan.settings.kind) && signal == 0) {
    const TextTranslator best = TextTranslator::load(options.folder);
    const Progress checking("checking on held-out pairs ...");
    report.exact =
        exact_match(best, built_in_data(plan.settings.kind, trainer.seed).check, trainer.threads);
  }
  try {
    print(options.json_lines ? report_as_json(report).dump() + "\n"
          : options.json     ? to_text(report_as_json(report)) + "\n"
                             : text_of(report));
  } catch (...) {
    if (signal == 0) throw;  // a terminal that was closed has no reader; the run is saved
  }
  if (signal == 0) return;
  note("stopped at step " + std::to_string(result.step) + ", which is saved; `sextant train " +
       "--resume -o " + options.folder + "` goes on");
  throw EndWith{128 + signal};  // as shells tell of a signal
}

}  // namespace

void add_train(CLI::App& program, Job& job) {
  CLI::App& command = *program.add_subcommand(
      "train",
      "train a small transformer on your text\n"
      "Trains a language model (lm), a masked language model (mlm) or a translator (translate) on "
      "your files, or a translator on built-in data: dates in words (dates), letters that are "
      "copied, "
      "reversed or sorted (copy, reverse, sort). The folder holds the best "
      "and the last model with their tokenizer, the metrics of every step and a picture of them. A "
      "stopped run continues with --resume, bit for bit as if it had not stopped.");
  auto options = std::make_shared<TrainOptions>();
  options->add_to(command);
  command.footer(
      "Examples:\n"
      "  sextant train dates -o dates\n"
      "  sextant train reverse --scheme none -o reverse\n"
      "  sextant train lm --text plays.txt --minutes 20 -o plays\n"
      "  sextant train lm --text plays.txt --tokenizer subword --scheme alibi --steps 2000 -o run\n"
      "  sextant train translate --pairs train.tsv --valid valid.tsv --pointer --minutes 60 -o "
      "run\n"
      "  sextant train --resume -o run --minutes 90\n"
      "Ctrl-C saves and ends with exit code 130; a closed terminal saves too.");
  command.callback([options, &command, &job] {
    options->check(command);
    if (!options->resume) options->plan(command);  // throws what the words alone tell
    job = [options, &command] { run(*options, command); };
  });
}

}  // namespace sextant::app

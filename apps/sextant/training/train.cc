// `sextant train`: train a small transformer on your text, on this machine.
#include <signal.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "commands.h"
#include "options/arguments.h"
#include "sextant/core/files.h"
#include "sextant/figures/loss_chart.h"
#include "sextant/training/tasks/built_in_data.h"
#include "sextant/training/tasks/make_task.h"
#include "training/train_options.h"
#include "training/train_ranks.h"
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

// A new run on ranks makes its steps in a batch for each, unless it was told how many.
void divide_steps(TrainingPlan& plan, const CLI::App& command, int ranks) {
  std::int64_t& batches = plan.settings.accumulation_steps;
  if (command.count("--accumulation-steps") == 0) batches = ranks;
  if (std::min(batches, plan.settings.batch_size) >= ranks) return;
  const bool few = plan.settings.batch_size < ranks;
  throw Error(few ? "train.batch-size" : "train.accumulation-steps",
              "must be at least the number of ranks, " + std::to_string(ranks) + ", got " +
                  std::to_string(few ? plan.settings.batch_size : batches));
}

PlannedTask read_data(const TrainOptions& options, const CLI::App& command, TrainingPlan& plan,
                      const TrainingGroup* group) {
  std::optional<Progress> reading;
  if (group == nullptr || group->rank() == 0) reading.emplace("reading the data ...");
  plan = options.plan(command);
  if (group != nullptr && !options.resume) divide_steps(plan, command, group->size());
  PlannedTask made = make_task(plan, options.resume ? options.folder : "");
  plan.trainer.folder = options.folder;
  if (!options.resume) plan.trainer.settings = format_settings(plan);
  return made;
}

void tell_start(const TrainingPlan& plan, const PlannedTask& made, const TrainingGroup* group) {
  std::string text = plan.settings.kind + ": " + data_of(made) + "; " +
                     std::to_string(made.parameters) + " parameters; " +
                     std::to_string(made.steps_per_epoch) + " steps see all of it once";
  if (group != nullptr) {
    const std::int64_t batches =
        std::min(plan.settings.accumulation_steps, plan.settings.batch_size);
    text += "; " + std::to_string(group->size()) + " ranks make each step in " +
            std::to_string(batches) + " batches";
    if (batches < group->size()) text += ", so that some have nothing to do";
  }
  note(text);
}

void tell_end(const TrainOptions& options, TrainingPlan& plan, const PlannedTask& made,
              const TrainingResult& result, int signal) {
  TrainReport report = report_of(options, plan, made, result);
  if (is_built_in(plan.settings.kind) && signal == 0) {
    const TextTranslator best = TextTranslator::load(options.folder);
    const Progress checking("checking on held-out pairs ...");
    report.exact = exact_match(best, built_in_data(plan.settings.kind, plan.trainer.seed).check,
                               plan.trainer.threads);
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
}

// The exit code. `group`: nullptr, or the ranks, of which the first one tells how it goes.
int run(const TrainOptions& options, const CLI::App& command, TrainingGroup* group) {
  TrainingPlan plan;
  PlannedTask made;
  const auto read = [&] { made = read_data(options, command, plan, group); };
  if (group != nullptr) {
    group->together(read);
  } else {
    read();
  }
  const bool tells = group == nullptr || group->rank() == 0;
  TrainerOptions& trainer = plan.trainer;
  trainer.group = group;
  trainer.should_stop = [](const StepMetrics&) { return StopSignals::caught() != 0; };
  if (tells) tell_start(plan, made, group);

  TrainingResult result;
  int signal = 0;
  {
    const StopSignals signals;
    TrainProgress progress;
    result = train(*made.task, trainer, [&](const TrainingProgress& now) {
      if (!tells) return;
      if (options.json_lines) return print(format_metrics(now.metrics) + "\n");
      progress.show(now);
    });
    if (result.end == TrainingEnd::stopped) signal = StopSignals::caught();
    // Another rank may have been told to stop.
    if (result.end == TrainingEnd::stopped && signal == 0) signal = SIGTERM;
  }
  if (tells) tell_end(options, plan, made, result, signal);
  return signal == 0 ? 0 : 128 + signal;  // as shells tell of a signal
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
      "  mpirun -n 4 sextant train lm --text plays.txt --minutes 20 -o plays   (built with MPI)\n"
      "Ctrl-C saves and ends with exit code 130; a closed terminal saves too.");
  command.callback([options, &command, &job] {
    options->check(command);
    if (!options->resume) options->plan(command);  // throws what the words alone tell
    job = [options, &command] {
      train_on_ranks([&](TrainingGroup* group) { return run(*options, command, group); });
    };
  });
}

}  // namespace sextant::app

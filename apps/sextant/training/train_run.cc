// Reads the data, trains, and tells how it went.
#include "training/train_run.h"

#include <algorithm>
#include <optional>

#include "options/arguments.h"
#include "sextant/core/files.h"
#include "sextant/figures/loss_chart.h"
#include "sextant/training/tasks/built_in_data.h"
#include "sextant/training/tasks/make_task.h"
#include "training/train_report.h"
#include "training/train_watch.h"

namespace sextant::app {
namespace {

std::string data_of(const PlannedTask& made) {
  const auto count = [](std::size_t size) { return grouped(static_cast<std::int64_t>(size)); };
  return count(made.train) + " " + made.unit + " to learn from, " + count(made.held_out) +
         " held out";
}

TrainReport report_of(const TrainingPlan& plan, const PlannedTask& made,
                      const TrainingResult& result) {
  TrainReport report;
  report.folder = result.folder;
  report.kind = plan.settings.kind;
  report.model = plan.settings.model;
  report.tokenizer = plan.settings.tokenizer.kind;
  report.data = data_of(made);
  report.parameters = made.parameters;
  report.result = result;
  if (result.step == 0) return report;
  const figures::LossRun run = figures::load_losses(result.folder);
  report.training_loss = run.curves.mean_loss.back();
  if (!run.curves.validation_loss.empty()) {
    report.validation_loss = run.curves.validation_loss.back();
  }
  report.picture = result.folder + "/loss.svg";
  write_file(report.picture, figures::loss_chart({run}, "Loss of " + run.name).svg);
  return report;
}

// How many ranks share out the batches of a step.
int batch_ranks(const TrainingGroup& group) { return group.size() / group.context_parallel_size(); }

// A new run on ranks divides its steps into a batch for each rank, unless their number was given.
void divide_steps(TrainingPlan& plan, const CLI::App& command, int ranks) {
  std::int64_t& batches = plan.settings.task.accumulation_steps;
  if (command.count("--accumulation-steps") == 0) batches = ranks;
  if (std::min(batches, plan.settings.task.batch_size) >= ranks) return;
  const bool few = plan.settings.task.batch_size < ranks;
  throw Error(few ? "train.batch-size" : "train.accumulation-steps",
              "must be at least the number of ranks that share out batches, " +
                  std::to_string(ranks) + ", got " +
                  std::to_string(few ? plan.settings.task.batch_size : batches));
}

void check_divided(const TrainOptions& options, const TrainingPlan& plan) {
  const std::string& kind = plan.settings.kind;
  if (options.context_parallel == 1 || kind == "lm" || kind == "mlm") return;
  throw Error("train.context-parallel", "must be 1 for " + kind + ", got " +
                                            std::to_string(options.context_parallel) +
                                            ": only lm and mlm divide sequences");
}

PlannedTask read_data(const TrainOptions& options, const CLI::App& command, TrainingPlan& plan,
                      TrainingGroup* group) {
  std::optional<Progress> reading;
  if (group == nullptr || group->rank() == 0) reading.emplace("reading the data ...");
  plan = options.plan(command);
  check_divided(options, plan);
  if (group != nullptr && !options.resume) divide_steps(plan, command, batch_ranks(*group));
  plan.trainer.folder = options.folder;
  plan.trainer.group = group;
  PlannedTask made = make_task(plan, options.resume ? options.folder : "");
  if (!options.resume) plan.trainer.settings = format_settings(plan);
  return made;
}

void tell_start(const TrainingPlan& plan, const PlannedTask& made, const TrainingGroup* group) {
  std::string text = plan.settings.kind + ": " + data_of(made) + "; " +
                     std::to_string(made.parameters) + " parameters; " +
                     std::to_string(made.steps_per_epoch) + " steps see all of it once";
  if (group != nullptr) {
    const std::int64_t batches =
        std::min(plan.settings.task.accumulation_steps, plan.settings.task.batch_size);
    text += "; " + std::to_string(group->size()) + " ranks make each step in " +
            std::to_string(batches) + (batches == 1 ? " batch" : " batches");
    if (group->context_parallel_size() > 1) {
      text += ", " + std::to_string(group->context_parallel_size()) + " of them each sequence";
    }
    if (batches < batch_ranks(*group)) text += ", so that some have nothing to do";
  }
  note(text);
}

void tell_end(const TrainOptions& options, TrainingPlan& plan, const PlannedTask& made,
              const TrainingResult& result, int signal) {
  TrainReport report = report_of(plan, made, result);
  if (is_built_in(plan.settings.kind) && signal == 0) {
    const TextTranslator best = TextTranslator::load(result.folder);
    const Progress checking("checking on held-out pairs ...");
    report.exact = exact_match(best, built_in_data(plan.settings.kind, plan.trainer.seed).check,
                               plan.trainer.threads);
  }
  if (result.lost_best_step) {
    note("the best checkpoint, of step " + std::to_string(*result.lost_best_step) +
         ", was gone: best is that of the steps since the run was resumed");
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
       "--resume -o " + result.folder + "` continues");
}

}  // namespace

int run_training(const TrainOptions& options, const CLI::App& command, TrainingGroup* group) {
  TrainingPlan plan;
  PlannedTask made;
  const auto read = [&] { made = read_data(options, command, plan, group); };
  if (group != nullptr) {
    // The others find the tokens that the first has written.
    const bool first = group->rank() == 0;
    group->run_or_fail_on_all([&] { first ? read() : void(); });
    group->run_or_fail_on_all([&] { first ? void() : read(); });
    group->check_same({{"train.data", made.checksum}});
  } else {
    read();
  }
  const bool tells = group == nullptr || group->rank() == 0;
  TrainerOptions& trainer = plan.trainer;
  trainer.should_stop = [](const StepMetrics&) { return StopSignals::caught() != 0; };
  if (tells) tell_start(plan, made, group);

  TrainingResult result;
  int signal = 0;
  {
    const StopSignals signals(tells);
    TrainProgress progress;
    result = train(*made.task, trainer, [&](const TrainingProgress& now) {
      if (!tells) return;
      if (options.json_lines) return print(format_metrics(now.metrics) + "\n");
      progress.show(now);
    });
    if (result.end == TrainingEnd::stopped) signal = stopping_signal(group);
  }
  if (tells) tell_end(options, plan, made, result, signal);
  return signal == 0 ? 0 : 128 + signal;  // as shells tell of a signal
}

}  // namespace sextant::app

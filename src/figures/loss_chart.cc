// Curves of metrics as line charts.
#include "sextant/figures/loss_chart.h"

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "sextant/core/missing_file.h"
#include "sextant/pictures/charts.h"

namespace sextant::figures {
namespace {

constexpr std::size_t kMaxPoints = 1000;  // of a line; more are closer than pixels

Series thinned(const std::string& name, const std::vector<double>& x,
               const std::vector<double>& y) {
  Series series{.name = name, .x = {}, .y = {}};
  const std::size_t stride = (x.size() + kMaxPoints - 1) / kMaxPoints;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i % stride != 0 && i + 1 != x.size()) continue;
    series.x.push_back(x[i]);
    series.y.push_back(y[i]);
  }
  return series;
}

void check_lengths(const LossRun& run) {
  const auto check = [&](const char* what, std::size_t losses, std::size_t steps) {
    if (losses == steps) return;
    throw Error("figure.runs", "must have a loss for each " + std::string(what) + " of " +
                                   run.name + ", got " + std::to_string(losses) + " for " +
                                   std::to_string(steps));
  };
  check("step", run.curves.mean_loss.size(), run.curves.steps.size());
  check("validation", run.curves.validation_loss.size(), run.curves.validation_steps.size());
}

Series training_of(const LossRun& run, const std::string& name) {
  return thinned(name, run.curves.steps, run.curves.mean_loss);
}

Series held_out_of(const LossRun& run, const std::string& name) {
  return thinned(name, run.curves.validation_steps, run.curves.validation_loss);
}

Picture chart_of(const std::string& title, std::vector<Series> series,
                 std::optional<double> max_width) {
  LinePanels chart{
      .title = title, .x_label = "Step", .y_label = "Loss per token (nats)", .panels = {{}}};
  chart.panels[0].series = std::move(series);
  chart.max_width = max_width.value_or(chart.max_width);
  return draw(chart);
}

}  // namespace

LossRun load_losses(const std::string& folder) {
  const std::string path = folder + "/metrics.jsonl";
  std::error_code problem;
  if (!std::filesystem::exists(path, problem)) {
    const char* what = "must be the folder of a training run, which has metrics.jsonl";
    if (!std::filesystem::exists(folder, problem)) throw MissingFile(folder, what);
    throw Error(folder, what);
  }
  const auto name = std::filesystem::path(folder + "/").lexically_normal().parent_path().filename();
  LossRun run{.name = name.string(), .curves = loss_curves(path)};
  if (run.curves.steps.empty()) throw Error(path, "must have a step or more, got none");
  return run;
}

std::string loss_title(const std::vector<LossRun>& runs) {
  return runs.size() == 1 ? "Loss of " + runs[0].name : std::to_string(runs.size()) + " trainings";
}

Picture loss_chart(const std::vector<LossRun>& runs, const std::string& title,
                   std::optional<double> max_width) {
  if (runs.empty()) throw Error("figure.runs", "must be at least one, got none");
  for (const LossRun& run : runs) check_lengths(run);
  if (runs.size() == 1) {
    std::vector<Series> both = {training_of(runs[0], "training (moving average)")};
    if (!runs[0].curves.validation_loss.empty()) both.push_back(held_out_of(runs[0], "held out"));
    return chart_of(title, std::move(both), max_width);
  }
  std::vector<Series> held_out, training;
  for (const LossRun& run : runs) {
    training.push_back(training_of(run, run.name));
    if (!run.curves.validation_loss.empty()) held_out.push_back(held_out_of(run, run.name));
  }
  std::vector<Picture> pictures;
  if (!held_out.empty()) pictures.push_back(chart_of("Held out", std::move(held_out), max_width));
  pictures.push_back(chart_of("Training, moving average", std::move(training), max_width));
  return stack(title, pictures);
}

}  // namespace sextant::figures

// Curves of metrics as line charts.
#include "sextant/figures/loss_chart.h"

#include <filesystem>
#include <system_error>

#include "sextant/core/error.h"
#include "sextant/pictures/charts.h"

namespace sextant::figures {
namespace {

constexpr std::size_t kMostPoints = 1000;  // of a line; more are closer than pixels

Series thinned(const std::string& name, const std::vector<double>& x,
               const std::vector<double>& y) {
  Series series{.name = name, .x = {}, .y = {}};
  const std::size_t stride = (x.size() + kMostPoints - 1) / kMostPoints;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i % stride != 0 && i + 1 != x.size()) continue;
    series.x.push_back(x[i]);
    series.y.push_back(y[i]);
  }
  return series;
}

Series training_of(const LossRun& run, const std::string& name) {
  return thinned(name, run.curves.steps, run.curves.mean_loss);
}

Series held_out_of(const LossRun& run, const std::string& name) {
  return thinned(name, run.curves.validation_steps, run.curves.validation_loss);
}

LineChart empty_chart(const std::string& title) {
  LineChart chart;
  chart.title = title;
  chart.x_label = "Step";
  chart.y_label = "Loss per token (nats)";
  return chart;
}

}  // namespace

LossRun load_losses(const std::string& folder) {
  const std::string path = folder + "/metrics.jsonl";
  std::error_code problem;
  if (!std::filesystem::exists(path, problem)) {
    throw Error(folder, "must be the folder of a training run, which has metrics.jsonl");
  }
  const auto name = std::filesystem::path(folder + "/").lexically_normal().parent_path().filename();
  LossRun run{.name = name.string(), .curves = loss_curves(path)};
  if (run.curves.steps.empty()) throw Error(path, "must have a step or more, got none");
  return run;
}

Picture loss_chart(const std::vector<LossRun>& runs, const std::string& title) {
  if (runs.size() == 1) {
    LineChart chart = empty_chart(title);
    chart.series.push_back(training_of(runs[0], "training (moving average)"));
    if (!runs[0].curves.validation_loss.empty()) {
      chart.series.push_back(held_out_of(runs[0], "held out"));
    }
    return draw(chart);
  }
  LineChart held_out = empty_chart("Held out"), training = empty_chart("Training, moving average");
  for (const LossRun& run : runs) {
    training.series.push_back(training_of(run, run.name));
    if (!run.curves.validation_loss.empty()) {
      held_out.series.push_back(held_out_of(run, run.name));
    }
  }
  std::vector<Picture> pictures;
  if (!held_out.series.empty()) pictures.push_back(draw(held_out));
  pictures.push_back(draw(training));
  return stack(title, pictures);
}

}  // namespace sextant::figures

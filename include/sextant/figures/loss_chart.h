// Loss curves of one training, or of several side by side.
#pragma once

#include <string>
#include <vector>

#include "sextant/pictures/canvas.h"
#include "sextant/training/metrics.h"

namespace sextant::figures {

struct LossRun {
  std::string name;
  LossCurves curves;
};

// folder/metrics.jsonl, named like the folder. Throws Error for a folder that has none, or no step.
LossRun load_losses(const std::string& folder);

// "Loss of dates", "2 trainings".
std::string loss_title(const std::vector<LossRun>& runs);

// One run: its training and held-out loss. Several: a chart of each loss, with a line per run.
// Throws Error naming figure.runs for none.
Picture loss_chart(const std::vector<LossRun>& runs, const std::string& title);

}  // namespace sextant::figures

// Draws the loss curves of one training, or of several side by side.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sextant/pictures/canvas.h"
#include "sextant/training/metrics.h"

namespace sextant::figures {

struct LossRun {
  std::string name;
  LossCurves curves;
};

// Reads folder/metrics.jsonl, named like the folder. Throws Error for a folder without it, or
// without a step.
LossRun load_losses(const std::string& folder);

// Returns "Loss of dates", "2 trainings".
std::string loss_title(const std::vector<LossRun>& runs);

// Draws one run with its training and held-out loss, or several with a chart of each loss and a
// line per run. Throws an Error with figure.runs for none.
Picture loss_chart(const std::vector<LossRun>& runs, const std::string& title,
                   std::optional<double> max_width = {});

}  // namespace sextant::figures

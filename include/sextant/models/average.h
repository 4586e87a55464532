// Averages several models.
#pragma once

#include <span>
#include <string>

#include "sextant/models/model_folder.h"

namespace sextant {

// Writes the mean of the models' weights, with their config and tokenizer, as a new folder, which
// gets its name when it is complete; rests of a killed process are removed. For models trained from
// the same weights, with other data or seeds, the mean can be better than each of them, at the cost
// of one (Vaswani et al. 2017, 1706.03762, section 6.1, for checkpoints; Wortsman et al. 2022,
// 2203.05482). For models with different initial weights it is useless. Each weight is a float64
// sum in the order of the models, rounded once. Throws Error for a folder that exists, fewer than
// two models, another config or tokenizer than the first one's, and as load_parameters(); then it
// writes nothing.
void save_average(std::span<const ModelFolder> models, const std::string& folder);

}  // namespace sextant

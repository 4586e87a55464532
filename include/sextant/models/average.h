// One model from several.
#pragma once

#include <span>
#include <string>

#include "sextant/models/model_folder.h"

namespace sextant {

// Writes the mean of the models' weights, with their config and tokenizer, into a folder that
// exists. Of models that went on from one, with other data or seeds, it can be better than each,
// and costs what one does (Vaswani et al. 2017, 1706.03762, section 6.1, of checkpoints; Wortsman
// et al. 2022, 2203.05482). Of models that began apart it is worth nothing. Each weight is a
// float64 sum in the order of the models, rounded once. Throws Error for fewer than two models,
// another config or tokenizer than the first one's, and as load_parameters(); nothing is written
// then.
void save_average(std::span<const ModelFolder> models, const std::string& folder);

}  // namespace sextant

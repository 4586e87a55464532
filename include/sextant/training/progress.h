// Formats one line of progress.
#pragma once

#include <cstdint>
#include <string>

#include "sextant/training/trainer.h"

namespace sextant {

// Returns "step 1200/5000  loss 3.214  5210 tokens/s  12:40 left  validation 3.307 at 1000", at
// most `width` characters: parts that do not fit are omitted, the last first. ASCII only.
// last_validation is shown until the next one.
struct LastValidation {
  std::int64_t step = 0;  // 0: none yet
  double loss = 0;
};
std::string progress_line(const TrainingProgress& progress, std::int64_t width = 80,
                          const LastValidation& last_validation = {});

// Returns "0:09", "12:40", "3:05:00"; "?" for a number that is not finite or negative.
std::string clock_text(double seconds);

}  // namespace sextant

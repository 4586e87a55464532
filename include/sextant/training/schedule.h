// Computes learning rates, which depend only on the step's number.
#pragma once

#include <cstdint>
#include <string_view>

#include "sextant/core/names.h"

namespace sextant {

// The learning rate after the warm-up.
enum class Decay {
  constant,             // the peak
  inverse_square_root,  // peak * sqrt(warmup / n) (Vaswani et al. 2017, section 5.3)
  cosine,               // half a cosine from the peak to the floor (Loshchilov and Hutter 2017)
  linear,               // a line from the peak to the floor
  wsd,                  // warm-up, stable, decay: the peak, then a line to the floor over the last
                        // steps (Hu et al. 2024, section 4; Haegele et al. 2024, equation 1)
};
// Returns "constant", "inverse_square_root", "cosine", "linear", "wsd"; parse_name<Decay>() reads
// them back.
std::string_view name_of(Decay decay) noexcept;
// Returns whether the rate falls to the floor at the end of Schedule::steps: cosine, linear, wsd.
bool has_end(Decay decay) noexcept;

struct Schedule {
  Decay decay = Decay::constant;
  double peak = 1e-3;       // > 0: the highest rate
  std::int64_t warmup = 0;  // >= 0: steps that rise linearly to the peak, which the last one
                            // reaches; at least 1 for inverse_square_root
  std::int64_t steps = 0;   // of those with an end: the last of these steps has the floor; > warmup
  double floor = 0;         // of those with an end: 0 <= floor <= peak
  double decay_share =
      0.2;  // wsd only: 0 < decay_share <= 1: the rate falls from step
            // steps * (1 - decay_share), or the end of the warm-up if that is later
};

// Returns the rate of step `step`, counted from 0: it is the n-th step, n = step + 1. Steps past
// the end stay at the floor. Throws Error for a schedule out of range or step < 0.
double learning_rate(const Schedule& schedule, std::int64_t step);

// Returns the peak that makes inverse_square_root the schedule of Vaswani et al. 2017, equation 3,
// width^-0.5 * min(n^-0.5, n * warmup^-1.5): (width * warmup)^-0.5. Both at least 1.
double vaswani_peak(std::int64_t width, std::int64_t warmup);

}  // namespace sextant

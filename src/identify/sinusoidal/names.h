// The options that a fit may stand for, the likeliest first.
#pragma once

#include <cstdint>
#include <vector>

#include "identify/sinusoidal/fit.h"
#include "identify/sinusoidal/ratio.h"
#include "identify/sinusoidal/structure.h"
#include "sextant/schemes/added/sinusoidal.h"

namespace sextant::identify {

// A fit under one name.
struct Named {
  Sinusoidal options;
  double preference;  // smaller is likelier
  double roughness;   // digits of the base, about
};

// Every reading of the structure with the roundest base and scale that the fit allows.
std::vector<Named> names_of(const Structure& structure, const Fit& fit, std::int64_t length,
                            std::int64_t width, const Noise& noise);

}  // namespace sextant::identify

// The two pictures of docs/parallel.md.
#pragma once

#include "ranks/model/points.h"
#include "sextant/pictures/canvas.h"

namespace sextant::ranks::model {

struct Fitted {
  Measured measured;
  Machine machine;
};

// Calls on two ranks over each network: measured points, the model's line, and in grey what
// computing and messages take alone. Overlap ends where these two meet.
Picture links(const std::vector<Fitted>& networks);

// How efficient texts of 256 Ki, 2 Mi and 16 Mi tokens are on 1 .. 1,024 ranks over three networks.
// A rank is a machine of `cores` cores, each as fast as the one measured.
Picture to_a_thousand(double multiply_adds, int cores);

}  // namespace sextant::ranks::model

// Where the gradients of a model go.
#pragma once

#include "sextant/layers/parameters.h"

namespace sextant {

// A model of the same configuration whose parameters are all 0: what loss() adds gradients to.
template <class Model>
Model zeros_like(const Model& model) {
  Model zeros(model.config);
  set_to_zero(zeros.parameters());
  return zeros;
}

}  // namespace sextant

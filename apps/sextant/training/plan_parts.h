// Defines the defaults of each kind of training, list by list of its options.
#pragma once

#include <vector>

#include "options/field_options.h"
#include "training/tasks/plan_words.h"

namespace sextant::app {

template <class Options>
std::vector<Defaults<Options>> defaults_of(const PlanPart<Options>& part) {
  std::vector<Defaults<Options>> all;
  for (const char* kind : kTrainingKinds) {
    TrainingPlan plan = default_plan(kind);
    all.push_back({kind, part.of(plan)});
  }
  return all;
}

}  // namespace sextant::app
